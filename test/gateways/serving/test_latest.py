# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Executors: only the newest job of a key runs."""

import threading
import time

from hypothesis import given
from hypothesis import strategies as st
from waiting import wait_until

from urlab_ros_bridge.gateways.serving import latest
from urlab_ros_bridge.gateways.serving.latest import LatestExecutor

PATIENCE = 30.0


@given(st.lists(st.sampled_from([None, 'a', 'b', 'c']), max_size=20))
def test_of_each_key_the_newest_runs_in_the_place_of_the_first(keys):
    executor, started, gate = LatestExecutor('test'), threading.Event(), threading.Event()
    executor.submit(lambda: (started.set(), gate.wait(PATIENCE)))
    assert started.wait(PATIENCE)
    ran, expected = [], {}
    for number, key in enumerate(keys):
        replaced = executor.submit(lambda number=number: ran.append(number), key)
        assert replaced == (key is not None and key in expected)
        expected[number if key is None else key] = number
    assert not executor.is_idle
    gate.set()
    wait_until(lambda: executor.is_idle)
    assert ran == list(expected.values())
    executor.close()


def test_a_full_executor_blocks_its_caller_and_survives_failing_jobs(monkeypatch, caplog):
    monkeypatch.setattr(latest, 'MAX_WAITING', 3)
    executor, gate, count = LatestExecutor('test'), threading.Event(), []
    executor.submit(lambda: gate.wait(PATIENCE))
    executor.submit(lambda: 1 / 0)

    def fill():
        for _ in range(10):
            executor.submit(lambda: None)
            count.append(1)

    thread = threading.Thread(target=fill)
    thread.start()
    wait_until(lambda: len(count) >= 2)
    time.sleep(0.05)
    assert len(count) <= 3
    gate.set()
    thread.join()
    wait_until(lambda: executor.is_idle)
    assert 'ZeroDivisionError' in caplog.text
    executor.close()
    assert executor.submit(lambda: count.append('late')) is False and 'late' not in count
