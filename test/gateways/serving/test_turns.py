# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The order of requests."""

import threading
import time

from urlab_ros_bridge.gateways.serving.turns import MAX_WAITING
from urlab_ros_bridge.gateways.serving.turns import RequestTurns


def test_short_jobs_run_at_once_and_long_ones_beside():
    turns, done, gate = RequestTurns('test'), [], threading.Event()
    turns.run(lambda: done.append(threading.current_thread()))
    assert done == [threading.current_thread()]
    turns.run(lambda: (gate.wait(20), done.append('long')), long=True)
    turns.run(lambda: done.append('behind'))
    assert len(done) == 1
    gate.set()
    turns.close()
    assert done[1:] in ([], ['long'], ['long', 'behind'])


def test_jobs_keep_their_order():
    turns, done = RequestTurns('test'), []
    for number in range(40):
        turns.run(lambda number=number: (time.sleep(0.001), done.append(number)), number % 7 == 0)
    deadline = time.monotonic() + 20
    while len(done) < 40 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert done == list(range(40))


def test_whoever_sends_too_fast_waits():
    turns, gate, done = RequestTurns('test'), threading.Event(), []
    turns.run(gate.wait, long=True)
    everything = range(2 * MAX_WAITING)
    sender = threading.Thread(
        target=lambda: [turns.run(lambda n=n: done.append(n)) for n in everything]
    )
    sender.start()
    sender.join(0.1)
    assert sender.is_alive() and not done
    gate.set()
    sender.join(20)
    turns.run(lambda: None, long=True)
    deadline = time.monotonic() + 20
    while len(done) < len(everything) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert done == list(everything)
    turns.close()
