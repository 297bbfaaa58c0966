# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nonsense in req.shm, its header included: the server goes on, and a sound client is served."""

import random
import threading
import time

import pytest
from stock_shm import StockRegion
from stock_shm import StockShmRpc

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.encoding import codec


@pytest.fixture
def served(server, connect):
    running = server()
    client = connect(running)
    client.ask('set_mode', mode='direct')
    return running, client


def sound_client_is_served(running, client):
    """Attach as a stock client does, which also checks that the header was repaired."""
    deadline = time.monotonic() + 15
    while True:
        try:
            shm = StockShmRpc(running.stage.shm_dir, client.session_id)
            break
        except AssertionError:
            assert time.monotonic() < deadline, 'the header stays broken'
            time.sleep(0.02)
    # What is still in the regions may be answered first; a stock client would take it for its own.
    time.sleep(0.05)
    for _ in range(3):
        reply = shm.ask('status')
    assert reply['op'] == 'status_ok'
    shm.close()


def test_scribbling_over_the_whole_file(served):
    running, client = served
    chance = random.Random(2)
    for _ in range(120):
        region = Region.open(running.stage.shm.path / 'req.shm', writable=True)
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
    assert alive(running)
    sound_client_is_served(running, client)


def alive(running):
    return any(thread.name == 'shm-rpc-req' for thread in threading.enumerate())


@pytest.mark.parametrize(
    ('at', 'junk'),
    [
        (0, b'JUNK'),
        (8, b'\xff\xff\xff\xff'),
        (12, b'\0\0\0\0'),
        (24, b'\7\0\0\0'),
        (24, b'\xff\xff\xff\xff'),
        (28, b'\xff' * 36),
        (64, b'\xff\xff\xff\xff'),
        (64 + (1 << 20), b'\xff\xff\xff\xff'),
    ],
)
def test_broken_words_do_not_cost_more_than_their_own_request(served, at, junk):
    running, client = served
    region = StockRegion(running.stage.shm.path / 'req.shm')
    region.map[at : at + len(junk)] = junk
    region.map[16] = (region.map[16] + 1) % 256
    time.sleep(0.05)
    if at < 24:  # constant words that the server itself does not read: it repairs when it notices
        region.map[24:28] = b'\xff' * 4
        region.map[16] = (region.map[16] + 1) % 256
    sound_client_is_served(running, client)
    region.close()


def test_sequence_that_runs_on_without_requests_is_looked_at_now_and_then(served, monkeypatch):
    """A writer that scribbles forever must not make the server busy forever."""
    running, client = served
    reads, real = [], RegionReader.read
    monkeypatch.setattr(RegionReader, 'read', lambda self: reads.append(1) or real(self))
    region = StockRegion(running.stage.shm.path / 'req.shm')
    region.map[24] = 1
    region.map[16] = 1
    for _ in range(50):
        region.map[17] = (region.map[17] + 1) % 256
        time.sleep(0.01)
    # About once a change, not all the time.
    assert len(reads) < 10 * 50
    region.close()
    sound_client_is_served(running, client)


def test_request_of_impossible_size_is_answered_under_its_number(served):
    running, _ = served
    directory = running.stage.shm.path
    requests = RegionWriter(Region.open(directory / 'req.shm', writable=True))
    replies = RegionReader(Region.open(directory / 'rep.shm', writable=True))
    replies.skip()
    requests.write(b'x', 1)
    while replies.read() is None:
        replies.sleep(1.0)
    slot = 1 - requests.region.words[6]
    requests.region.sizes[slot][0] = 1 << 31
    requests.region.words[6] = slot
    requests.region.longs[2] += 1
    requests.region.futex.wake()
    deadline = time.monotonic() + 15
    while (reply := replies.read()) is None:
        assert time.monotonic() < deadline
        replies.sleep(0.1)
    assert codec.unpack(reply, 1 << 20)['code'] == 'bad_request'
    assert replies.tag == requests.region.longs[2]
