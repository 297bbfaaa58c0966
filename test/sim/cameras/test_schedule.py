# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""When cameras capture and deliver: laws of the schedule."""

from dataclasses import replace

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.schedule import Schedule

ITEM = CameraItem(
    index=0, prefix='p', name='n', key='n', id=0, mode='real', width=4, height=4, fovy=45.0,
    rate=30.0, latency=0.0, jitter=0.0, seed=0, body='b', depth_pair='',
)  # fmt: skip
RATES = st.floats(0.01, 1000.0)
TIMES = st.integers(0, 10**13)


def captures(rate, ticks):
    schedule, taken = Schedule(replace(ITEM, rate=rate)), []
    for tick in ticks:
        if schedule.due(tick):
            schedule.take(tick)
            taken.append(tick)
    return taken


@given(RATES, TIMES)
def test_nothing_is_due_before_next_ns_and_something_is_then(rate, stamp):
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


@pytest.mark.parametrize('rate', [1.0, 29.97, 30.0, 100.0])
@pytest.mark.parametrize('step_ms', [2, 5])
def test_the_rate_holds_over_minutes(rate, step_ms):
    ticks = range(0, 120 * 10**9, step_ms * 10**6)
    taken = captures(rate, ticks)
    assert abs(len(taken) - 120 * rate) <= 1
    grid = [stamp % (10**9 / rate) for stamp in taken]
    assert all(min(off, 10**9 / rate - off) <= step_ms * 10**6 for off in grid)


@settings(deadline=None)
@given(RATES, st.lists(TIMES, min_size=1).map(sorted))
def test_cameras_of_one_rate_capture_together(rate, ticks):
    first, second = (Schedule(replace(ITEM, rate=rate, name=name)) for name in 'ab')
    for tick in ticks:
        assert first.due(tick) == second.due(tick)
        if first.due(tick):
            first.take(tick)
            second.take(tick)


def test_a_rate_above_that_of_physics_means_every_tick():
    ticks = range(0, 10**9, 2 * 10**6)
    assert captures(1000.0, ticks) == list(ticks)


@given(
    st.floats(0.0, 1.0),
    st.floats(0.0, 0.5),
    st.integers(0, 2**31 - 1),
    st.lists(TIMES).map(sorted),
)
def test_frames_never_overtake_and_never_come_before_they_were_taken(latency, jitter, seed, ticks):
    item = replace(ITEM, latency=latency, jitter=jitter, seed=seed)
    first, again = Schedule(item), Schedule(item)
    releases = [first.release_ns(tick) for tick in ticks]
    assert releases == sorted(releases)
    assert all(release >= tick for release, tick in zip(releases, ticks, strict=True))
    assert releases == [again.release_ns(tick) for tick in ticks]  # seeded


def test_latency_alone_is_exact_and_jitter_spreads_around_it():
    assert Schedule(replace(ITEM, latency=0.25)).release_ns(10**9) == 1_250_000_000
    jittered = Schedule(replace(ITEM, latency=0.5, jitter=0.05))
    delays = [jittered.release_ns(tick * 10**9) / 1e9 - tick for tick in range(2000)]
    mean = sum(delays) / len(delays)
    spread = (sum((delay - mean) ** 2 for delay in delays) / len(delays)) ** 0.5
    assert mean == pytest.approx(0.5, abs=0.01) and spread == pytest.approx(0.05, rel=0.1)


def test_other_seeds_and_other_cameras_jitter_differently():
    items = [
        replace(ITEM, latency=1.0, jitter=0.1, seed=seed, name=name)
        for seed in (0, 1)
        for name in 'ab'
    ]
    firsts = {Schedule(item).release_ns(0) for item in items}
    assert len(firsts) == 4
