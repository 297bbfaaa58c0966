# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras take a picture at which tick, without a renderer."""

import time

import numpy as np
import pytest

from urlab_ros_bridge.sim.cameras.connection import Frame
from urlab_ros_bridge.sim.cameras.connection import JobMemory


class FakePort:
    """Takes jobs down instead of rendering them."""

    def __init__(self, rig):
        self.memory = JobMemory(rig.state.size)
        self.latest = {}
        self.jobs = []
        self.busy = False
        self.timely = True
        self.asked = []
        self.told = []

    def has_time(self, now, period):
        self.asked.append((now, period))
        return self.timely

    def post(self, state, capture, cameras, returned):
        self.jobs.append((capture, list(cameras), state))
        self.returned = list(returned)
        return True

    def tell_readers(self, cameras):
        self.readers = set(cameras)

    def tell(self, kind, content):
        self.told.append((kind, content))
        return True


@pytest.fixture
def rig(lab_rig):
    lab_rig.attach(FakePort(lab_rig))
    lab_rig.engine.hooks.publish.append(lab_rig.publish)
    with lab_rig.engine.lock:
        lab_rig.engine.run.set_mode('direct')
    return lab_rig


def index(rig, *names):
    return [item.index for item in rig.items if item.name in names]


def run(rig, steps):
    """Step as the live loop does; return the jobs that this made."""
    rig.port.jobs.clear()
    with rig.engine.lock:
        for _ in range(steps):
            rig.engine.substep()
            rig.engine.publish(rows=True)
    return rig.port.jobs


def stamps(jobs, camera):
    return [capture.stamp_ns / 1e9 for capture, cameras, _ in jobs if camera in cameras]


def test_nothing_is_captured_for_nobody(rig):
    assert run(rig, 500) == [] and rig.watched == 0


def test_each_watched_camera_at_its_rate_and_no_other(rig):
    eye, front, parts = (index(rig, name)[0] for name in ('eye', 'front', 'parts'))
    rig.subscribe([eye, front, parts])
    jobs = run(rig, 1000)  # 2 s
    assert [len(stamps(jobs, camera)) for camera in (eye, front, parts)] == [101, 201, 41]
    assert {camera for _, cameras, _ in jobs for camera in cameras} == {eye, front, parts}
    assert np.allclose(np.diff(stamps(jobs, eye)[1:]), 0.02, atol=1e-9)
    assert rig.watched == 3
    rig.subscribe([eye])
    assert set(map(tuple, (cameras for _, cameras, _ in run(rig, 500)))) == {(eye,)}


def test_a_pair_shows_the_same_state(rig):
    pair = index(rig, 'front', 'range')
    rig.subscribe(pair)
    assert all(cameras == pair for _, cameras, _ in run(rig, 300))


def test_the_state_is_that_of_the_stamp(rig):
    rig.subscribe(index(rig, 'eye'))
    data = rig.engine.world.data
    data.qpos[-1] = 1.0
    for _ in range(100):
        jobs = run(rig, 1)
        for capture, _, state in jobs:
            assert (
                capture.stamp_ns == rig.engine.clock.stamp_ns
                and capture.step == rig.engine.clock.steps
            )
            assert np.array_equal(np.frombuffer(state)[: len(data.qpos)], data.qpos)


def test_a_busy_renderer_is_left_alone_and_then_gets_the_newest_state(rig):
    rig.subscribe(index(rig, 'front'))
    rig.port.busy = True
    assert run(rig, 50) == []
    rig.port.busy = False
    ((capture, _, _),) = run(rig, 1)
    assert capture.stamp_ns == rig.engine.clock.stamp_ns


def test_while_time_runs_by_itself_the_renderer_gets_what_it_has_time_for(rig):
    with rig.engine.lock:
        rig.engine.run.set_mode('live')
        rig.engine.run.speed = 0.5
    rig.subscribe(index(rig, 'front'))
    rig.port.timely = False
    before = time.monotonic()
    assert run(rig, 50) == []
    now, period = rig.port.asked[-1]
    assert before <= now <= time.monotonic()
    assert period == rig.engine.world.model.opt.timestep / 0.5
    rig.port.timely = True
    ((capture, _, _),) = run(rig, 1)
    assert capture.stamp_ns == rig.engine.clock.stamp_ns


def test_whoever_comes_late_gets_a_picture_while_time_stands_still(rig):
    run(rig, 10)
    beat = lambda: rig.engine.publish(rows=True)  # noqa: E731
    rig.engine.run.paused = True
    rig.subscribe(index(rig, 'front'))
    beat()
    assert len(rig.port.jobs) == 1
    beat()
    beat()
    assert len(rig.port.jobs) == 1  # nothing moved
    rig.subscribe(index(rig, 'front', 'range'))
    beat()
    assert rig.port.jobs[-1][1] == index(rig, 'range') and len(rig.port.jobs) == 2
    rig.engine.world.data.qpos[0] += 0.1
    beat()
    assert rig.port.jobs[-1][1] == index(rig, 'front', 'range') and len(rig.port.jobs) == 3
    # A second subscriber of the same camera.
    rig.subscribe(index(rig, 'front', 'range'), index(rig, 'range'))
    beat()
    beat()
    assert rig.port.jobs[-1][1] == index(rig, 'range') and len(rig.port.jobs) == 4


@pytest.mark.parametrize('keep_time', [False, True])
def test_a_reset_begins_a_new_timeline_unless_time_is_kept(rig, keep_time):
    rig.subscribe(index(rig, 'eye', 'late'))
    first = run(rig, 200)[-1][0].timeline
    with rig.engine.lock:
        rig.engine.reset(None, keep_time)
        rig.engine.forward()
        rig.port.jobs.clear()
        rig.engine.state_changed()
    current = int(rig.port.memory.control[JobMemory.TIMELINE])
    if keep_time:
        assert current == first
        return
    assert current == first + 1
    ((capture, cameras, _),) = rig.port.jobs
    assert (capture.stamp_ns, capture.timeline) == (0, first + 1) and cameras == index(rig, 'eye')
    # What the delayed camera captured before is gone.
    assert min(stamps(run(rig, 100), index(rig, 'late')[0]), default=0) >= 0
    assert all(capture.timeline == first + 1 for capture, _, _ in rig.port.jobs)


def test_time_set_back_by_a_puppet_client_is_a_new_timeline_too(rig):
    rig.subscribe(index(rig, 'eye'))
    first = run(rig, 100)[-1][0].timeline
    with rig.engine.lock:
        rig.engine.world.data.time = 0.05
        rig.port.jobs.clear()
        rig.engine.accept_state()
        rig.engine.publish(rows=False)
    assert rig.port.jobs[0][0].timeline == first + 1


def test_a_late_camera_delivers_the_past(rig):
    (late,) = index(rig, 'late')
    rig.subscribe([late])
    delivered = []
    for _ in range(500):
        for capture, cameras, state in run(rig, 1):
            assert cameras == [late]
            delivered.append((rig.engine.clock.stamp_ns, capture.stamp_ns, state))
    lags = [(now - then) / 1e9 for now, then, _ in delivered]
    assert np.allclose(lags, 0.1, atol=1e-9) and len(lags) == 46
    times = [then for _, then, _ in delivered]
    assert times == sorted(times) and np.allclose(np.diff(times[1:]), 0.02e9)


def test_pulling_renders_for_a_while_and_knows_what_is_there(rig, monkeypatch):
    eye, front = index(rig, 'eye')[0], index(rig, 'front')[0]
    with rig.engine.lock:
        assert rig.keep_rendering([eye]) == set()
    assert stamps(run(rig, 100), eye)
    assert rig.port.returned == [eye]
    rig.port.latest[eye] = Frame(b'', rig.port.jobs[-1][0])
    with rig.engine.lock:
        assert rig.keep_rendering([eye, front]) == {eye}
    assert rig.watched == 2
    later = time.monotonic() + 60
    monkeypatch.setattr(time, 'monotonic', lambda: later)
    assert run(rig, 100) == [] and rig.watched == 0
    with rig.engine.lock:
        assert rig.keep_rendering([eye]) == set()  # the frame is from long ago


def test_a_new_renderer_learns_the_timeline(rig):
    rig.subscribe(index(rig, 'eye'))
    run(rig, 10)
    with rig.engine.lock:
        rig.engine.reset(None, False)
        rig.engine.state_changed()
    rig.attach(None)
    assert run_without(rig) == 0 and rig.watched == 0
    again = FakePort(rig)
    rig.attach(again)
    assert int(again.memory.control[JobMemory.TIMELINE]) == 1
    assert run(rig, 10) == []  # subscriptions come from the renderer


def run_without(rig):
    with rig.engine.lock:
        rig.engine.substep()
        rig.engine.publish(rows=True)
    return 0


def test_changes_of_looks_are_told_and_shown_at_once(rig):
    rig.subscribe(index(rig, 'eye'))
    run(rig, 1)
    rig.engine.run.paused = True
    rig.port.jobs.clear()
    with rig.engine.lock:
        rig.set_overlays([{'type': 'sphere', 'pos': [0, 0, 1]}])
        rig.model_changed()
        rig.engine.state_changed()
    assert [kind for kind, _ in rig.port.told] == [b'O', b'A']
    assert len(rig.port.jobs) == 1
