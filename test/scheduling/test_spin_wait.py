# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Spinning ends when it does not pay: no message arrives, or others need the processor."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.scheduling import spin_wait as module
from urlab_ros_bridge.scheduling.spin_wait import SpinWait

LOOK = 1e-5  # s


class Rig:
    """A spin wait on a clock of its own; each poll takes `taken` seconds."""

    def __init__(self, monkeypatch):
        self.now, self.taken, self.looks, self.comes_at = 0.0, LOOK, 0, None
        monkeypatch.setattr(module, 'time', SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(module, '_yield_processor', self._give_way)
        monkeypatch.setattr(module, 'processors', lambda: 2)
        self.wait = SpinWait(self._came, 1e-3)

    def _came(self):
        self.looks += 1
        return self.comes_at is not None and self.now >= self.comes_at

    def _give_way(self):
        self.now += self.taken

    def spins(self):
        """Spin for one message; return whether it was really tried."""
        self.looks = 0
        self.wait.spin()
        return self.looks > 1

    def skipped(self):
        """Return how many messages are waited for asleep until the next spin."""
        count = 0
        while not self.spins():
            count += 1
        return count


@pytest.fixture
def rig(monkeypatch):
    return Rig(monkeypatch)


def test_a_spin_ends_with_the_message(rig):
    rig.comes_at = 20 * LOOK
    assert rig.wait.spin()
    assert rig.now == pytest.approx(20 * LOOK)


def test_a_spin_ends_in_time(rig):
    assert not rig.wait.spin()
    assert rig.now == pytest.approx(1e-3, abs=LOOK)


def test_each_unsuccessful_spin_doubles_the_skipped_ones_up_to_a_limit(rig):
    assert rig.spins()
    assert [rig.skipped() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 64, 64]


def test_a_spin_yields_the_processor_to_others(rig):
    rig.taken = 3e-3  # another program had its time slice
    assert rig.spins()
    assert rig.looks <= 3
    assert [rig.skipped() for _ in range(6)] == [512, 1024, 2048, 4096, 8192, 8192]


def test_success_resumes_spinning(rig):
    rig.taken = 3e-3
    for _ in range(6):
        rig.skipped()
    rig.taken = LOOK
    while rig.wait._penalty > 1:
        rig.comes_at = rig.now + 3 * LOOK
        rig.wait.spin()
    rig.comes_at = None
    assert rig.spins() and rig.skipped() == 1


def test_there_is_no_spinning_on_one_processor(rig, monkeypatch):
    monkeypatch.setattr(module, 'processors', lambda: 1)
    rig.wait = SpinWait(rig._came, 1e-3)
    assert not rig.spins()
