# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.ros.extras.lockstep.images import ImageWait
from urlab_ros_bridge.ros.extras.lockstep.images import is_due
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
