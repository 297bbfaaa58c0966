# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks of other threads run in the stream thread, in order, and wake it."""

import threading

import pytest

from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks

PATIENCE = 60.0


@pytest.fixture
def served():
    """Tasks with a stream thread that only runs when it is woken."""
    tasks, woken, stop = StreamTasks(), threading.Semaphore(0), threading.Event()

    def run():
        while woken.acquire(timeout=PATIENCE) and not stop.is_set():
            tasks.run_all()

    tasks.thread, tasks.wake = threading.Thread(target=run, name='stream'), woken.release
    tasks.thread.start()
    yield tasks
    stop.set()
    woken.release()
    tasks.thread.join()


def test_tasks_run_in_that_thread_in_order(served):
    ran = []
    for number in range(100):
        served.put(lambda number=number: ran.append((number, threading.current_thread().name)))
    assert served.run_and_wait(lambda: ran.append('last'), PATIENCE)
    assert ran == [*((number, 'stream') for number in range(100)), 'last']


def test_errors_are_raised_in_the_thread_that_waits(served):
    with pytest.raises(ZeroDivisionError):
        served.run_and_wait(lambda: 1 / 0, PATIENCE)
    assert served.run_and_wait(lambda: None, PATIENCE)


def test_a_task_that_does_not_begin_in_time_never_runs(served):
    began, release, ran = threading.Event(), threading.Event(), []

    def block():
        began.set()
        release.wait(PATIENCE)

    served.put(block)
    assert began.wait(PATIENCE)
    assert not served.run_and_wait(lambda: ran.append(1), 0.01)
    release.set()
    assert served.run_and_wait(lambda: ran.append(2), PATIENCE)
    assert ran == [2]


def test_without_that_thread_a_task_runs_at_once():
    names = []
    assert StreamTasks().run_and_wait(lambda: names.append(threading.current_thread()))
    assert names == [threading.current_thread()]
