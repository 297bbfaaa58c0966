# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Spinning ends when it does not pay: no message arrives, or others need the processor."""

from urlab_ros_bridge.scheduling import spin_wait as module
from urlab_ros_bridge.scheduling.spin_wait import SpinWait


def test_a_spin_ends_with_the_message(monkeypatch):
    monkeypatch.setattr(module, 'processors', lambda: 2)
    polls = iter([False, False, True])
    assert SpinWait(lambda: next(polls), 60.0).spin()


def tries(count):
    """Spin for messages that never come; return how often it was really tried."""
    polls, found = [], 0
    wait = SpinWait(lambda: bool(polls.append(1)), 1e-4)
    for _ in range(count):
        before = len(polls)
        assert not wait.spin()
        found += len(polls) > before + 1
    return found


def test_spins_that_do_not_pay_become_rare_and_there_are_none_on_one_processor(monkeypatch):
    monkeypatch.setattr(module, 'processors', lambda: 2)
    assert 0 < tries(1000) < 30
    monkeypatch.setattr(module, 'processors', lambda: 1)
    assert tries(10) == 0
