# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""When cameras capture and deliver: laws of the schedule."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.schedule import Schedule

ITEM = CameraItem(
    index=0, prefix='p', name='n', key='n', id=0, mode='real', width=4, height=4, fovy=45.0,
    rate=30.0, latency=0.0, jitter=0.0, seed=0, body='b', depth_pair='',
)  # fmt: skip
RATES = st.floats(0.01, 1000.0)
TIMES = st.integers(0, 10**13)


@given(RATES, TIMES)
def test_a_camera_is_due_at_next_ns_and_not_before(rate, stamp):
    schedule = Schedule(replace(ITEM, rate=rate))
    assert schedule.due(stamp)
    schedule.take(stamp)
    after = schedule.next_ns()
    assert stamp < after <= stamp + 1e9 / rate + 3
    assert not schedule.due(stamp)
    margin = 3 + round(2 / rate)  # ns
    if after - margin > stamp:
        assert not schedule.due(after - margin)
    assert schedule.due(after + margin)


SEEDS = st.integers(0, 2**31 - 1)


@given(st.floats(0.0, 1.0), st.floats(0.0, 0.5), SEEDS, st.lists(TIMES).map(sorted))
def test_frames_stay_in_order_and_are_released_after_their_capture(latency, jitter, seed, ticks):
    item = replace(ITEM, latency=latency, jitter=jitter, seed=seed)
    first, again = Schedule(item), Schedule(item)
    releases = [first.release_ns(tick) for tick in ticks]
    assert releases == sorted(releases)
    assert all(release >= tick for release, tick in zip(releases, ticks, strict=True))
    assert releases == [again.release_ns(tick) for tick in ticks]  # seeded
