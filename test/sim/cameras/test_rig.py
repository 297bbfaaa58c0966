# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras capture at which tick, without a renderer."""

import numpy as np
import pytest

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
        self.messages = []

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
        self.messages.append((kind, content))
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


def test_nothing_is_captured_without_subscribers(rig):
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


def test_a_late_subscriber_gets_an_image_while_paused(rig):
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


def test_changed_colours_and_overlays_are_rendered_at_once(rig):
    rig.subscribe(index(rig, 'eye'))
    run(rig, 1)
    rig.engine.run.paused = True
    rig.port.jobs.clear()
    with rig.engine.lock:
        rig.set_overlays([{'type': 'sphere', 'pos': [0, 0, 1]}])
        rig.model_changed()
        rig.engine.state_changed()
    assert [kind for kind, _ in rig.port.messages] == [b'O', b'A']
    assert len(rig.port.jobs) == 1
