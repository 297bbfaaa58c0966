# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import time
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.extras.lockstep.waits import ImageWait
from urlab_ros_bridge.ros.extras.lockstep.waits import is_due
from urlab_ros_bridge.ros.extras.lockstep.waits import Repetition
from urlab_ros_bridge.ros.extras.lockstep.waits import SUSPENDED_SECONDS
from urlab_ros_bridge.sim.cameras.schedule import Schedule

MS = 1_000_000


@given(st.sampled_from([5.0, 10.0, 30.0, 60.0, 200.0]), st.integers(1, 50), st.integers(0, 10_000))
def test_the_bridge_and_the_server_agree_when_an_image_is_due(rate, period_ms, start_ms):
    camera = SimpleNamespace(
        rate=rate, latency=0.0, jitter=0.0, seed=1, prefix='rover', name='front'
    )
    schedule, last = Schedule(camera), None
    for number in range(100):
        stamp = (start_ms + number * period_ms) * MS
        assert is_due(rate, stamp, last) == schedule.due(stamp)
        if schedule.due(stamp):
            schedule.take(stamp)
            last = stamp


def thread(name, last_ns=None, watched=True, rate=10.0, latency=0.0):
    camera = SimpleNamespace(rate=rate, latency=latency)
    return SimpleNamespace(
        plan=SimpleNamespace(camera=camera, topic=name), last_ns=last_ns, watched=watched
    )


def test_only_due_cameras_with_subscribers_are_waited_for():
    threads = [
        thread('due'),
        thread('done', last_ns=100 * MS),
        thread('unwatched', watched=False),
        thread('late by design', latency=0.05),
        thread('of an unknown rate', rate=0.0),
    ]
    images = ImageWait()
    assert images.missing(threads, 100 * MS) == ['due']
    # One that did not deliver is waited for again when it has.
    images.give_up(threads, 100 * MS)
    assert images.missed == 1 and images.missing(threads[:1], 200 * MS) == []
    threads[0].last_ns = 300 * MS
    assert images.missing(threads[:1], 400 * MS) == ['due']


FIRST, SECOND = frozenset({(1,)}), frozenset({(2,)})


def repeated(repetition, publishers, start, seconds):
    """Return when an instant is published again, in s after `start`."""
    checks = (0.1 * number for number in range(int(10 * seconds)))
    return [at for at in checks if repetition.is_due(publishers, start + at)]


def test_an_instant_is_repeated_more_and_more_rarely_until_the_first_answer():
    repetition, now = Repetition(), time.monotonic()
    repetition.saw(FIRST)
    repetition.begin_instant(now)
    seconds = [2.0, 6.0, 14.0, 24.0, 34.0]
    assert repeated(repetition, FIRST, now, 40.0) == pytest.approx(seconds, abs=0.5)
    repetition.all_answered()
    # However slow it is from now on, this node gets each instant once; another one does not.
    repetition.begin_instant(now + 40.0)
    assert repeated(repetition, FIRST, now + 40.0, 1000.0) == []
    assert repeated(repetition, FIRST | SECOND, now + 1040.0, 3.0) == pytest.approx([2.0], abs=0.2)


def test_after_a_suspension_an_instant_is_repeated_although_nodes_have_answered():
    repetition, now = Repetition(), time.monotonic()
    repetition.saw(FIRST)
    repetition.all_answered()
    repetition.begin_instant(now)
    assert repeated(repetition, FIRST, now, 30.0) == []
    later = now + 30.0 + 2.0 * SUSPENDED_SECONDS
    assert repeated(repetition, FIRST, later, 3.0) == pytest.approx([2.0], abs=0.2)
