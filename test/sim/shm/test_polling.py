# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How often a server looks whether a stock client, which does not ring, has written."""

from pathlib import Path
import time

import pytest
from stock_shm import StockShmRpc

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import server as shm_rpc

OFTEN, SOMETIMES, SELDOM = (pause for _, pause in shm_rpc.POLL)


@pytest.fixture
def running(server):
    return server(cameras='off')


@pytest.fixture
def looks(running, monkeypatch):
    """Return the pauses that the server makes before its looks; it tires ten times as soon."""
    made = []
    real = RegionReader.sleep
    requests = Path(running.stage.shm_dir) / 'req.shm'

    def sleep(self, timeout, **options):
        if self.region.path == requests:
            made.append(timeout)
        real(self, timeout, **options)

    monkeypatch.setattr(RegionReader, 'sleep', sleep)
    soon = tuple((limit / 10, pause) for limit, pause in shm_rpc.POLL)
    monkeypatch.setattr(shm_rpc, 'POLL', soon)
    return made


def until(condition):
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_nobody_is_looked_for_while_nobody_has_the_region_open(running, connect, looks):
    connect(running)
    until(lambda: looks and looks[-1] == shm_rpc.LONG_SLEEP)
    looks.clear()
    time.sleep(1.2 * shm_rpc.LONG_SLEEP)
    assert set(looks) <= {shm_rpc.LONG_SLEEP} and len(looks) <= 2


def test_in_the_end_there_are_a_hundred_looks_a_second():
    assert SELDOM == 0.01 >= 5 * SOMETIMES >= 25 * OFTEN


def test_who_is_silent_is_looked_for_more_and_more_seldom_and_often_again_once_it_writes(
    running, connect, looks
):
    client = connect(running)
    shm = StockShmRpc(running.stage.shm_dir, client.session_id)
    for _ in range(2):
        looks.clear()
        # It waits for one look: no request is left lying however seldom they are.
        assert shm.ask('status')['op'] == 'status_ok'
        until(lambda: looks and looks[-1] == SELDOM)
        order = [pause for pause in looks if pause != shm_rpc.LONG_SLEEP]
        busy = order[order.index(OFTEN) :]
        assert busy == sorted(busy) and {OFTEN, SOMETIMES, SELDOM} == set(busy)
    looks.clear()
    began = time.monotonic()
    time.sleep(0.3)
    assert len(looks) <= (time.monotonic() - began) / SELDOM + 2 and set(looks) == {SELDOM}
    shm.close()
