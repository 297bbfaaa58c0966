# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A quadruped walks as commanded, does not fall, and releases its joints."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.models.trot.legs import Legs
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.control.twist import TwistSetupError
from urlab_ros_bridge.wire.errors import UnknownName

PREFIX = 'quadruped'


FLAT = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"
          magnetic="0 0.21 -0.43"/>
  <worldbody><geom name="floor" type="plane" size="50 50 1"/></worldbody>
</mujoco>
"""


def world_in(folder, change=lambda text: text):
    """Return the robot on a flat floor, with a changed sidecar."""
    robot = 'quadruped_robot.xml'
    (folder / robot).write_text((world_path(PREFIX).parent / robot).read_text())
    (folder / 'quadruped.xml').write_text(FLAT)
    text = world_path(PREFIX).read_text().split('global_cameras:')[0]
    (folder / 'quadruped.yaml').write_text(change(text))
    return load_world(ServerConfig(model=folder / 'quadruped.yaml'))


@pytest.fixture(scope='module')
def world(tmp_path_factory):
    return world_in(tmp_path_factory.mktemp('flat'))


class Walk:
    """The robot of a world under its sidecar's controllers, from a keyframe."""

    def __init__(self, world, key='stand'):
        self.model, self.data = world.model, world.data
        self.trunk = self.model.body(f'{PREFIX}_base_link').id
        frame = self.model.key(f'{PREFIX}_{key}').id
        mujoco.mj_resetDataKeyframe(self.model, self.data, frame)
        (spec,) = world.spec.articulations
        articulation = world.articulations[PREFIX]
        self.control = ArticulationControl(self.model, self.data, articulation, spec)
        self.control.reset(self.model.key(frame).ctrl)
        self.twist, self.targets = self.control.twist, self.control.setpoints['zmq']
        self.track = []

    def go(self, seconds, command=None):
        """Simulate; `command` is sent at 20 Hz."""
        every = round(0.05 / self.model.opt.timestep)
        for step in range(round(seconds / self.model.opt.timestep)):
            if command is not None and step % every == 0:
                self.twist.set(command[:2], (0.0, 0.0, command[2]), self.data.time, 0.5)
            self.control.apply(False)
            mujoco.mj_step(self.model, self.data)
            self.track.append(self.sample())
        return self

    def sample(self):
        """Return vx, vy (m/s, heading frame), yaw rate (rad/s), height (m) and tilt (rad)."""
        turn = self.data.xmat[self.trunk].reshape(3, 3)
        yaw = math.atan2(turn[1, 0], turn[0, 0])
        vx, vy, _ = self.data.qvel[:3]
        return (
            math.cos(yaw) * vx + math.sin(yaw) * vy,
            math.cos(yaw) * vy - math.sin(yaw) * vx,
            turn[2] @ self.data.qvel[3:6],
            self.data.qpos[2],
            math.acos(min(1.0, turn[2, 2])),
        )

    def mean(self, seconds):
        return np.mean(self.track[-round(seconds / self.model.opt.timestep) :], axis=0)

    def worst_tilt(self):
        return max(sample[4] for sample in self.track)


@given(st.integers(0, 2**32 - 1))
def test_joints_and_feet_are_inverse_whatever_zero_and_direction_joints_have(seed):
    random = np.random.default_rng(seed)
    knee = random.choice([-1.0, 1.0], 2)
    legs = Legs(
        hip=random.uniform(-0.3, 0.3, (2, 3)),
        offset=random.uniform(-0.05, 0.05, (2, 3)),
        thigh=random.uniform(0.2, 0.5, 2),
        calf=random.uniform(0.2, 0.5, 2),
        knee=knee,
        zero=random.uniform(-1.5, 1.5, (2, 3)),
        sign=random.choice([-1.0, 1.0], (2, 3)),
    )
    roll, pitch = random.uniform([[-0.7], [-0.4]], [[0.7], [0.4]], (2, 2))
    bend = knee * random.uniform(0.6, 2.0, 2)
    joints = (np.stack((roll, pitch - bend / 2, bend), axis=1) - legs.zero) * legs.sign
    np.testing.assert_allclose(legs.joints(legs.feet(joints)), joints, atol=1e-7)


@pytest.mark.parametrize('command', [(-0.4, 0.0, 0.0), (0.2, 0.3, 0.6)], ids=str)
def test_it_walks_as_commanded(world, command):
    walk = Walk(world).go(4.0, command)
    np.testing.assert_allclose(walk.mean(2.0)[:3], command, atol=0.05)
    assert walk.worst_tilt() < 0.2


def test_a_lying_robot_stands_up_first(world):
    walk = Walk(world, 'rest')
    assert walk.sample()[3] < 0.15
    walk.go(4.0, (0.3, 0.0, 0.0))
    assert walk.mean(1.0)[[0, 3]] == pytest.approx([0.3, 0.30], abs=0.03)
    assert walk.worst_tilt() < 0.3


def test_after_a_twist_it_stands_and_releases_its_joints(world):
    walk = Walk(world).go(2.0, (0.5, 0.0, 0.0))
    assert walk.twist.active
    walk.go(3.0)  # without further commands
    assert not walk.twist.active and not any(walk.twist.value)
    assert walk.sample()[3] == pytest.approx(0.30, abs=0.02)
    walk.targets[:] = kept = walk.targets + 0.01
    walk.go(1.0)
    assert (walk.targets == kept).all()
    assert np.abs(walk.data.qvel[:6]).max() < 0.02


def test_a_tipped_robot_retracts_its_legs_and_rises_when_upright(world):
    walk = Walk(world).go(0.5, (0.2, 0.0, 0.0))
    walk.data.qpos[2:7] = 0.3, math.cos(1.0), math.sin(1.0), 0.0, 0.0
    walk.data.qvel[:] = 0.0
    walk.go(1.0, (0.2, 0.0, 0.0))
    assert walk.sample()[4] > 1.0  # it lies, and does not kick
    assert np.abs(walk.data.qvel[6:18]).max() < 1.0
    walk.data.qpos[2:7] = 0.2, 1.0, 0.0, 0.0, 0.0
    walk.data.qvel[:] = 0.0
    walk.go(3.0, (0.2, 0.0, 0.0))
    assert walk.mean(1.0)[[0, 3]] == pytest.approx([0.2, 0.30], abs=0.03)


@pytest.mark.parametrize(
    ('old', 'new', 'error', 'says'),
    [
        ('hip: FR_hip', 'hip: FR_hop', UnknownName, 'FR_hop'),
        ('hip: FR_hip', 'hip: FL_hip', TwistSetupError, 'FL_hip'),
        ('foot: RR_foot', 'foot: FR_foot', UnknownName, 'RR_foot'),
        ('FL_hip, thigh: FL_thigh', 'FL_thigh, thigh: FL_hip', TwistSetupError, 'FL'),
        ('default_kp: 90', 'default_kp: 0', TwistSetupError, 'position control'),
    ],
)
def test_unsuitable_legs_are_named(tmp_path, old, new, error, says):
    with pytest.raises(error, match=says):
        Walk(world_in(tmp_path, lambda text: text.replace(old, new)))
