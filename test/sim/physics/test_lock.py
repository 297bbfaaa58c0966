# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who gets the model next."""

import threading
import time

import pytest

from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.sim.requests.sessions import ServerSession

PATIENCE = 20.0


class Crowd:
    """Threads that ask for a lock; `order` says who had it."""

    def __init__(self, lock):
        self.lock, self.order, self.threads = lock, [], []

    def ask(self, name, session=None):
        def run():
            self.lock.acquire(session=session)
            self.order.append(name)
            self.lock.release()

        waiting = len(self.lock._queue)
        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()
        deadline = time.monotonic() + PATIENCE
        while len(self.lock._queue) == waiting:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def served(self):
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not self.lock._queue and not self.lock.urgent
        return self.order


@pytest.fixture
def lock():
    return ModelLock()


def test_what_has_no_turn_goes_first_then_whose_last_turn_is_longest_ago(lock):
    crowd = Crowd(lock)
    greedy, patient, new = ServerSession(), ServerSession(), ServerSession()
    for turn in (patient, greedy):
        assert lock.acquire(session=turn)
        lock.release()
    with lock:
        for number in range(3):
            crowd.ask(f'greedy {number}', greedy)
        crowd.ask('patient', patient)
        crowd.ask('new', new)
        crowd.ask('pause')
    order = crowd.served()
    assert order == ['pause', 'new', 'patient', 'greedy 0', 'greedy 1', 'greedy 2']


def test_a_holder_lets_what_is_urgent_pass_and_nobody_else(lock):
    crowd = Crowd(lock)
    mine = ServerSession()
    lock.acquire(session=mine)
    crowd.ask('step', ServerSession())
    crowd.ask('pause')
    assert lock.urgent == 1
    lock.let_urgent_pass()
    assert crowd.order == ['pause'] and not lock.urgent
    lock.release()
    assert crowd.served() == ['pause', 'step']


def test_who_waits_for_a_change_queues_for_a_turn_again(lock):
    crowd, woken = Crowd(lock), []
    turn = ServerSession()

    def wait():
        lock.acquire(session=turn)
        lock.changed.wait(PATIENCE)
        crowd.order.append('waited')
        lock.release()

    waiting = threading.Thread(target=wait)
    waiting.start()
    deadline = time.monotonic() + PATIENCE
    while not lock.changed._waiters:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    with lock:
        lock.changed.notify_all()
        while not lock._queue:
            time.sleep(0.001)
        crowd.ask('pause')
        assert not woken
    waiting.join(PATIENCE)
    assert crowd.served() == ['pause', 'waited']


def test_nobody_is_forgotten_however_they_race(lock):
    counts, held = [0] * 8, []

    def hammer(number):
        turn = ServerSession() if number % 2 else None
        for _ in range(300):
            if lock.acquire(timeout=[-1.0, 1e-4][number % 3 == 0], session=turn):
                held.append(number)
                assert held == [number], 'two at a time'
                held.pop()
                lock.release()
                counts[number] += 1

    threads = [threading.Thread(target=hammer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert all(count == 300 for number, count in enumerate(counts) if number % 3)
    assert lock.acquire(timeout=0.0)
