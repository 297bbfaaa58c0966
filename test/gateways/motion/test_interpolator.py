# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints in real time, without a simulation."""

import threading
import time
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import pytest
from waiting import wait_until

from urlab_ros_bridge.gateways.motion import interpolator
from urlab_ros_bridge.gateways.motion.interpolator import SetpointInterpolator
from urlab_ros_bridge.gateways.motion.target import between
from urlab_ros_bridge.gateways.motion.target import Target

numbers = st.floats(-10, 10)
SMOOTH = frozenset({'arm'})


@given(numbers, numbers, st.floats(0, 2))
def test_the_way_is_straight_and_ends_at_the_target(start, end, share):
    way = between(
        Target({'arm': start, 'valve': start}), Target({'arm': end, 'valve': end}), share, SMOOTH
    )
    assert way.ctrl['valve'] == end
    if share >= 1:
        assert way.ctrl['arm'] == end
    else:
        assert way.ctrl['arm'] == pytest.approx(start + share * (end - start))


class Recorder:
    """Remembers what was sent, and when; `after` is called in between, with how many there are."""

    def __init__(self, seconds=0.0, after=lambda count: None):
        self.sent = []
        self._seconds, self._after = seconds, after

    def __call__(self, target):
        time.sleep(self._seconds)
        self.sent.append((time.monotonic(), target))
        self._after(len(self.sent))

    def arms(self):
        return [target.ctrl['arm'] for _, target in self.sent]


class Clock:
    """The mover's clock; each setpoint takes an interval, on however busy a machine."""

    def __init__(self, monkeypatch):
        self.now = 50.0
        monkeypatch.setattr(interpolator, 'time', SimpleNamespace(monotonic=lambda: self.now))

    def pass_by(self, count):
        self.now += 0.02


@pytest.fixture
def mover(keep):
    def make(recorder, period=0.2, interval=0.02):
        made = keep(SetpointInterpolator(recorder, period, interval, SMOOTH))
        made.place(Target({'arm': 0.0}))
        return made

    return make


def test_a_target_is_reached_in_one_period_and_then_nothing_is_sent(mover, monkeypatch):
    recorder = Recorder(after=Clock(monkeypatch).pass_by)
    move = mover(recorder)
    began = time.monotonic()
    move.go([Target({'arm': 1.0})])
    wait_until(lambda: len(recorder.sent) >= 10 and move.here.ctrl['arm'] == 1.0)
    time.sleep(0.1)
    assert recorder.arms() == pytest.approx([0.1 * i for i in range(1, 11)])
    # Nine pauses of an interval lie between ten setpoints.
    assert recorder.sent[-1][0] - began > 9 * 0.02 - 0.001


def test_a_new_target_begins_where_the_last_one_got_to(mover, monkeypatch):
    clock = Clock(monkeypatch)

    def turn(count):
        clock.pass_by(count)
        if count == 4:
            move.go([Target({'arm': 0.0})])

    recorder = Recorder(after=turn)
    move = mover(recorder)
    move.go([Target({'arm': 1.0})])
    back = [0.4 - 0.04 * i for i in range(1, 11)]
    wait_until(lambda: len(recorder.sent) >= 14 and move.here.ctrl['arm'] == 0.0)
    assert recorder.arms() == pytest.approx([0.1, 0.2, 0.3, 0.4, *back])


def test_a_chunk_is_one_target_a_period_and_a_new_action_drops_the_rest(mover):
    third = threading.Event()
    recorder = Recorder(after=lambda count: count == 3 and (move.go(last), third.set()))
    move, last = mover(recorder, period=0.1, interval=None), [Target({'arm': -1.0})]
    began = time.monotonic()
    move.go([Target({'arm': float(i)}) for i in range(1, 9)])
    assert third.is_set() or move.goal.ctrl['arm'] == 8.0
    wait_until(lambda: move.here.ctrl['arm'] == -1.0)
    time.sleep(0.2)
    assert recorder.arms() == [1.0, 2.0, 3.0, -1.0]
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


def test_nothing_old_is_sent_after_a_hold(mover):
    """A reset: what is on its way is waited for, and what comes after starts over."""
    recorder = Recorder(seconds=0.05)
    move = mover(recorder)
    move.go([Target({'arm': 1.0})])
    time.sleep(0.07)
    with move.paused():
        count = len(recorder.sent)
        time.sleep(0.15)
        assert len(recorder.sent) == count
        move.place(Target({'arm': 5.0}))
    time.sleep(0.2)
    assert len(recorder.sent) == count
    assert move.here.ctrl['arm'] == 5.0
