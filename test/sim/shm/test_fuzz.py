# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nonsense in req.shm, its header included: the server goes on, and a sound client is served."""

import random
import threading
import time

import pytest
from stock_shm import StockShmRpc

from urlab_ros_bridge.transport.shm.region import Region


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
