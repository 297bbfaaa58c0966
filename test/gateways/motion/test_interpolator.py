# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints in real time, without a simulation."""

import time
from types import SimpleNamespace

import pytest
from waiting import wait_until

from urlab_ros_bridge.gateways.motion import interpolator
from urlab_ros_bridge.gateways.motion.interpolator import SetpointInterpolator
from urlab_ros_bridge.gateways.motion.target import Target


def arm(place):
    return Target({'arm': place, 'valve': place})


class Recorder:
    """Remembers what was sent, and when; `after` is called in between, with how many there are."""

    def __init__(self, seconds=0.0, after=lambda count: None):
        self.sent = []
        self._seconds, self._after = seconds, after

    def __call__(self, target):
        time.sleep(self._seconds)
        self.sent.append((time.monotonic(), target))
        self._after(len(self.sent))

    def places(self, name):
        return [target.ctrl[name] for _, target in self.sent]


@pytest.fixture
def mover(keep):
    def make(recorder, period=0.2, interval=0.02):
        made = keep(SetpointInterpolator(recorder, period, interval, frozenset({'arm'})))
        made.place(arm(0.0))
        return made

    return make


def test_a_target_is_reached_in_one_period_from_where_the_last_one_got_to(mover, monkeypatch):
    """By the clock of the mover: each setpoint takes an interval, on however busy a machine."""
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(interpolator, 'time', SimpleNamespace(monotonic=lambda: clock.now))

    def turn(count):
        clock.now += 0.02
        if count == 4:
            move.go([arm(0.0)])

    recorder = Recorder(after=turn)
    move = mover(recorder)
    began = time.monotonic()
    move.go([arm(1.0)])
    wait_until(lambda: len(recorder.sent) >= 14 and move.here == arm(0.0))
    time.sleep(0.1)
    back = [0.4 - 0.04 * i for i in range(1, 11)]
    assert recorder.places('arm') == pytest.approx([0.1, 0.2, 0.3, 0.4, *back])
    assert recorder.places('valve') == [1.0] * 4 + [0.0] * 10  # not interpolated
    assert recorder.sent[-1][0] - began > 12 * 0.02 - 0.001


def test_a_chunk_is_one_target_a_period_and_a_new_action_drops_the_rest(mover):
    recorder = Recorder(after=lambda count: count == 3 and move.go([arm(-1.0)]))
    move = mover(recorder, period=0.1, interval=None)
    began = time.monotonic()
    move.go([arm(float(i)) for i in range(1, 9)])
    wait_until(lambda: move.here == arm(-1.0))
    time.sleep(0.2)
    assert recorder.places('arm') == [1.0, 2.0, 3.0, -1.0]
    assert all(recorder.sent[i][0] - began >= 0.1 * i for i in range(3))


def test_a_twist_is_repeated_until_it_is_zero(mover):
    recorder = Recorder()
    move = mover(recorder, interval=None)
    move.go([Target({}, (0.5, 0.0, 0.0))])
    wait_until(lambda: len(recorder.sent) >= 3)
    assert {target.twist for _, target in recorder.sent} == {(0.5, 0.0, 0.0)}
    move.go([Target({}, (0.0, 0.0, 0.0))])
    wait_until(lambda: recorder.sent[-1][1].twist == (0.0, 0.0, 0.0))
    count = len(recorder.sent)
    time.sleep(0.25)
    assert len(recorder.sent) == count


def test_nothing_old_is_sent_after_a_pause(mover):
    """A reset: what is on its way is waited for, and what comes after starts over."""
    recorder = Recorder(seconds=0.05)
    move = mover(recorder)
    move.go([arm(1.0)])
    time.sleep(0.07)
    with move.paused():
        count = len(recorder.sent)
        time.sleep(0.15)
        assert len(recorder.sent) == count
        move.place(arm(5.0))
    time.sleep(0.2)
    assert len(recorder.sent) == count and move.here == arm(5.0)
