# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking of a hand by a tip, in simulated time: independent of the load of the machine."""

import math

from bundled_server import simulation
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.pace import steps_at
from urlab_ros_bridge.gateways.simulation.robot import read_actuated_robot
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrController
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrInput
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrPose
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.steering.operator import Operator
from urlab_ros_bridge.gateways.virtual_field.steering.steering import RATE
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import is_steerable
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import MAX_JOINT_SPEED
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl

# m that a tip may be off; a tentacle has more joints, and slower ones.
CLOSE = {'bimanual': 0.01, 'tentacle': 0.03}
RADIUS, SPEED = 0.05, 0.2  # m, m/s: a circle of 10 cm
SAMPLES = 30.0  # Hz, of the stock client
IDENTITY = (0.0, 0.0, 0.0, 1.0)
HEAD = XrPose((0.0, 1.6, 0.0), IDENTITY)


class Stepped:
    """A world that is stepped, and one hand in it; times are simulated."""

    def __init__(self, port, world):
        self.name = world
        self.link = SimulationLink('127.0.0.1', port, 'test')
        self.link.connect()
        self.robot = read_actuated_robot(self.link.handshake, world)
        self.arm = next(a for a in find_arms(self.robot) if is_steerable(self.robot, a))
        self.data = mujoco.MjData(self.link.handshake.model)

    def observe(self, seen):
        for joint in self.robot.all_joints:
            width = slice(joint.slot, joint.slot + joint.width)
            to = slice(joint.qpos_address, joint.qpos_address + joint.width)
            self.data.qpos[to] = seen.articulations[self.robot.prefix].qpos[width]
        mujoco.mj_kinematics(self.data.model, self.data)

    def tip(self):
        node = self.arm.nodes[-1]
        turn = self.data.xmat[node.body].reshape(3, 3)
        return self.data.xpos[node.body] + turn @ node.place

    def run(self, way, seconds):
        """Move the hand from home; yield time and tip after each control period."""
        self.observe(self.link.reset('home'))
        control = TipControl(self.data.model, self.robot, self.arm)
        operator, sampled = Operator([control], '', None, 0.0), -1
        for period in range(int(seconds * RATE)):
            now = period / RATE
            if int(now * SAMPLES) > sampled:
                sampled = int(now * SAMPLES)
                x, y, z = way(now)
                hand = XrController(XrPose((x, z, -y), IDENTITY), grip=1.0)
                operator.add_sample(XrInput(now, HEAD, {'left': hand}), now)
            for prefix, ctrl in operator.act(self.data.qpos, now, 1 / RATE).items():
                self.link.set_setpoints(prefix, ctrl)
            self.observe(self.link.step(None, steps_at(period, RATE, self.link.timestep)))
            yield (period + 1) / RATE, self.tip()


@pytest.fixture(scope='module', params=CLOSE)
def arms(request):
    with simulation(request.param, step_mode='direct', cameras='off') as port:
        stepped = Stepped(port, request.param)
        yield stepped
        stepped.link.close()


def circle(now):
    """Return the way on a circle in the plane y, z, after half a second to gather speed."""
    turn = SPEED / RADIUS
    angle = turn * (now - 0.25) if now > 0.5 else turn * now * now
    return np.array([0.0, RADIUS * (math.cos(angle) - 1), RADIUS * math.sin(angle)])


def test_the_tip_is_where_the_hand_is_on_a_circle(arms):
    arms.observe(arms.link.reset('home'))
    start = arms.tip()
    off = [np.linalg.norm(tip - start - circle(now)) for now, tip in arms.run(circle, 3.0)]
    assert max(off[72:]) < CLOSE[arms.name]
    assert np.mean(off[72:]) < CLOSE[arms.name] / 2


def test_a_hand_that_jumps_out_of_reach_is_followed_within_speed_and_range_of_the_joints(arms):
    arms.observe(arms.link.reset('home'))
    ranges = np.array([joint.range for joint in arms.arm.joints])
    places = [joint.qpos_address for joint in arms.arm.joints]
    before = arms.data.qpos.copy()
    for _, tip in arms.run(lambda now: np.array([2.0 * (now > 0.2), 0.0, 0.0]), 3.0):
        assert np.isfinite(tip).all()
        speed = np.abs(arms.data.qpos - before).max() * RATE
        assert speed < 2 * MAX_JOINT_SPEED  # setpoints keep to it, joints overshoot a little
        before = arms.data.qpos.copy()
        assert (before[places] > ranges[:, 0] - 0.02).all()
        assert (before[places] < ranges[:, 1] + 0.02).all()
