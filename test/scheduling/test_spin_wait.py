# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Spinning ends when it does not pay: no message arrives, or others need the processor."""

import itertools
from types import SimpleNamespace

import pytest

from urlab_ros_bridge.scheduling import spin_wait as module
from urlab_ros_bridge.scheduling.spin_wait import SpinWait


def test_a_spin_ends_with_the_message(monkeypatch):
    monkeypatch.setattr(module, 'processors', lambda: 2)
    polls = iter([False, False, True])
    assert SpinWait(lambda: next(polls), 60.0).spin()


@pytest.mark.parametrize(
    ('processors', 'poll_seconds', 'expected'),
    # Each doubles the number of those that are skipped, up to 64, or from 512 on.
    [(2, 1e-5, 21), (2, 1e-3, 2), (1, 1e-5, 0)],
    ids=['no message comes', 'others use the processor', 'one processor'],
)
def test_spins_that_do_not_pay_become_rare(monkeypatch, processors, poll_seconds, expected):
    clock, polls, tries = itertools.count(0.0, poll_seconds), [], 0
    monkeypatch.setattr(module, 'time', SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(module, 'processors', lambda: processors)
    wait = SpinWait(lambda: bool(polls.append(1)), 1e-3)
    for _ in range(1000):
        before = len(polls)
        assert not wait.spin()
        tries += len(polls) > before + 1
    assert tries == expected
