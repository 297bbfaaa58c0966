# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import threading

from urlab_ros_bridge.gateways.virtual_field.page.hands import MAX_WAITING
from urlab_ros_bridge.gateways.virtual_field.page.hands import NewestJobs


def held_up():
    """Return jobs whose thread is busy until the event is set."""
    jobs, busy, go = NewestJobs('test'), threading.Event(), threading.Event()
    jobs.put('busy', lambda: (busy.set(), go.wait(30)))
    assert busy.wait(30)
    return jobs, go


def test_of_each_kind_only_the_newest_that_waits_is_done():
    jobs, go = held_up()
    done, finished = [], threading.Event()
    for number in range(10):
        jobs.put('left', lambda number=number: done.append(('left', number)))
        jobs.put('right', lambda number=number: done.append(('right', number)))
    jobs.put('last', finished.set)
    go.set()
    assert finished.wait(30)
    assert done == [('left', 9), ('right', 9)]
    jobs.close()


def test_what_waits_is_bounded_and_the_oldest_goes():
    jobs, go = held_up()
    done, finished = [], threading.Event()
    for number in range(3 * MAX_WAITING):
        jobs.put(str(number), lambda number=number: done.append(number))
    jobs.put('last', finished.set)
    go.set()
    assert finished.wait(30)
    assert done == list(range(2 * MAX_WAITING + 1, 3 * MAX_WAITING))
    jobs.close()


def test_after_the_end_nothing_is_done():
    jobs, go = held_up()
    done = []
    jobs.put('waits', lambda: done.append(1))
    closing = threading.Thread(target=jobs.close)
    closing.start()
    go.set()
    closing.join(30)
    jobs.put('late', lambda: done.append(2))
    assert not closing.is_alive()
    assert len(done) <= 1
