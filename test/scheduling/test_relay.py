# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Turns alternate between two threads, and both end."""

import threading

import pytest

from urlab_ros_bridge.scheduling.relay import Relay


@pytest.mark.parametrize('count', [1, 2, 3, 100])
def test_turns_alternate_and_never_overlap(count):
    threads, running = [], threading.Lock()

    def turn():
        assert running.acquire(blocking=False)
        threads.append(threading.get_ident())
        running.release()
        return len(threads) < count

    relay = Relay(turn, 'second')
    relay.run()
    assert len(threads) == count
    assert threads[0] == threading.get_ident()
    assert len(set(threads[::2])) == 1 and len(set(threads[1::2])) <= 1
    assert set(threads[::2]).isdisjoint(threads[1::2])
    assert not relay._second.is_alive()


def test_without_a_second_turn_there_is_no_second_thread():
    before = threading.active_count()
    Relay(lambda: False, 'second').run()
    assert threading.active_count() == before


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('last', [1, 2])
def test_what_breaks_ends_both(last):
    turns = []

    def turn():
        turns.append(0)
        if len(turns) == last:
            raise ValueError('broken')
        return True

    relay = Relay(turn, 'second')
    if last == 1:
        with pytest.raises(ValueError, match='broken'):
            relay.run()
    else:
        relay.run()
    assert len(turns) == last and not relay._second.is_alive()
