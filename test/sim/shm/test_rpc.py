# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests through shared memory, as a stock client makes them."""

from pathlib import Path
import random
import time

from waiting import wait_until

from urlab_ros_bridge.conformance.channels.shm_raw import ShmChannel
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.encoding import codec


def test_scribbling_over_the_requests_costs_no_other_client(server, connect):
    running = server()
    client, directory = connect(running), running.host.shm.path
    chance = random.Random(2)
    for _ in range(120):
        region = Region.open(directory / 'req.shm', writable=True)
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(96) if chance.random() < 0.8 else chance.randrange(1 << 20)
            junk = chance.choice([b'\xff', b'\0', chance.randbytes(1)]) * chance.randrange(1, 24)
            region._map[at : at + len(junk)] = junk
        count = chance.choice([1, 3, 2**32 + 7, 2**63, chance.getrandbits(64)])
        region.longs[2] = (region.longs[2] + count) & (2**64 - 1)
        time.sleep(0.003)
        # A client could not open it with this header: the next one of this test may.
        region.repair()
        region.close()
    time.sleep(0.05)  # what is still in the region may be answered first
    channel = ShmChannel(directory)
    request = codec.pack({'op': 'status', 'session_id': client.session_id})
    replies = [codec.unpack(channel.exchange(request))['op'] for _ in range(3)]
    assert replies[-1] == 'status_ok'
    channel.close()


def test_each_client_has_its_own_channel(server, connect, monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.sim.shared_memory.GRACE', 0.2)
    running = server()
    client = connect(running, shared=True)
    directory = Path(running.host.shm_dir)
    names = [client.ask('hello', shared=True, shm_channel=True)['shm_channel'] for _ in range(2)]
    requests = [Region.open(directory / f'req_{name}.shm', writable=True) for name in names]
    replies = [RegionReader.open(directory / f'rep_{name}.shm') for name in names]
    writers = [RegionWriter(region) for region in requests]
    for writer, percent in zip(writers, (40.0, 60.0), strict=True):
        message = {'op': 'set_sim_speed', 'session_id': client.session_id, 'percent': percent}
        writer.write(codec.pack(message), writer.sequence + 1)
    for reader, writer, percent in zip(replies, writers, (40.0, 60.0), strict=True):
        assert codec.unpack(wait_until(reader.read))['percent'] == percent
        assert reader.tag == writer.sequence
    for one in (*requests, *replies):
        one.close()
    # Nobody uses them any more.
    wait_until(lambda: not list(directory.glob('req_*')))


def test_channels_are_limited(server, connect):
    client = connect(server(), shared=True)
    names = [client.ask('hello', shared=True, shm_channel=True)['shm_channel'] for _ in range(20)]
    assert len(list(filter(None, names))) == 16
    assert names[16:] == [''] * 4
