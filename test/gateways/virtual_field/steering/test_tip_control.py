# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking of a hand by a tip, in simulated time: independent of the load of the machine."""

import math

import mujoco
import numpy as np
import pytest

from test.gateways.virtual_field.programs import simulation
from urlab_ros_bridge.gateways.simulation.clocks import steps_at
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.robot import read_served_robot
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrController
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrInput
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrPose
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.steering.operator import Operator
from urlab_ros_bridge.gateways.virtual_field.steering.steering import RATE
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import is_steerable
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import lag_of
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import MAX_JOINT_SPEED
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl
from urlab_ros_bridge.model import WorldModel

RADIUS, SPEED = 0.05, 0.2  # m, m/s: a circle of 10 cm
SAMPLES = 30.0  # Hz, of the stock client
IDENTITY = (0.0, 0.0, 0.0, 1.0)
HEAD = XrPose((0.0, 1.6, 0.0), IDENTITY)


class Stepped:
    """A world that is stepped, and one hand in it; times are simulated."""

    def __init__(self, port, world):
        self.link = SimulationLink('127.0.0.1', port, 'test')
        self.link.connect()
        handshake = self.link.handshake
        self.robot = read_served_robot(handshake, world)
        self.arm = next(a for a in find_arms(self.robot) if is_steerable(self.robot, a))
        self.model = handshake.model
        self.data = mujoco.MjData(self.model)
        self.reset()

    def reset(self):
        seen = self.link.reset('home')
        control = TipControl(self.model, self.robot, self.arm)
        self.operator = Operator([control], '', None, 0.0)
        self.period = 0
        self.observe(seen)

    def observe(self, seen):
        for joint in self.robot.all_joints:
            width = slice(joint.slot, joint.slot + joint.width)
            to = slice(joint.qpos_address, joint.qpos_address + joint.width)
            self.data.qpos[to] = seen.articulations[self.robot.prefix].qpos[width]
        mujoco.mj_kinematics(self.model, self.data)

    def tip(self):
        node = self.arm.nodes[-1]
        turn = self.data.xmat[node.body].reshape(3, 3)
        return self.data.xpos[node.body] + turn @ node.place

    def run(self, way, seconds, grip=1.0):
        """Move the hand; yield time and tip after each control period."""
        sampled = -1
        for _ in range(int(seconds * RATE)):
            now = self.period / RATE
            if int(now * SAMPLES) > sampled:
                sampled = int(now * SAMPLES)
                x, y, z = way(now)
                hand = XrController(XrPose((x, z, -y), IDENTITY), grip=grip)
                self.operator.add_sample(XrInput(now, HEAD, {'left': hand}), now)
            for prefix, ctrl in self.operator.act(self.data.qpos, now, 1 / RATE).items():
                self.link.stage(prefix, ctrl)
            steps = steps_at(self.period, RATE, self.link.timestep)
            self.observe(self.link.step(None, steps))
            self.period += 1
            yield self.period / RATE, self.tip()


@pytest.fixture(scope='module')
def arms():
    with simulation('bimanual', '--step-mode=direct') as port:
        stepped = Stepped(port, 'bimanual')
        yield stepped
        stepped.link.close()


def circle(now):
    """Return the way on a circle in the plane y, z, after half a second to gather speed."""
    turn = SPEED / RADIUS
    angle = turn * (now - 0.25) if now > 0.5 else turn * now * now
    return np.array([0.0, RADIUS * (math.cos(angle) - 1), RADIUS * math.sin(angle)])


def test_the_tip_is_where_the_hand_is_within_a_centimetre_on_a_circle(arms):
    arms.reset()
    start = arms.tip()
    off = [
        np.linalg.norm(tip - start - circle(now))
        for now, tip in arms.run(circle, 5.0)
        if now > 1.0
    ]
    assert len(off) > 250
    assert max(off) < 0.01
    assert np.mean(off) < 0.005


def test_a_hand_that_jumps_is_followed_at_the_speed_of_the_joints(arms):
    arms.reset()
    before = arms.data.qpos.copy()
    for _, _ in arms.run(lambda now: np.array([0.0, 0.3 * (now > 0.2), 0.0]), 1.5):
        speed = np.abs(arms.data.qpos - before).max() * RATE
        assert speed < 2 * MAX_JOINT_SPEED  # setpoints keep to it, joints overshoot a little
        before = arms.data.qpos.copy()


def test_out_of_reach_the_arm_stretches_and_stays_within_its_joints(arms):
    arms.reset()
    for _, tip in arms.run(lambda now: np.array([2.0 * min(1.0, now), 0.0, 0.0]), 3.0):
        assert np.isfinite(tip).all()
    (ranges,) = [np.array([joint.range for joint in arms.arm.joints])]
    qpos = arms.data.qpos[[joint.qpos_address for joint in arms.arm.joints]]
    assert (qpos > ranges[:, 0] - 0.02).all() and (qpos < ranges[:, 1] + 0.02).all()


def test_the_lag_of_an_actuator_is_damping_over_stiffness():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option gravity="0 0 0" integrator="implicitfast"/>
        <worldbody><body><joint name="j" damping="3"/>
        <geom size="0.1" mass="1"/></body></worldbody>
        <actuator><position joint="j" kp="50" kv="2" gear="2"/></actuator></mujoco>"""
    )
    world = WorldModel(model, [])
    lag = lag_of(world.actuators[0], world.joints[0])
    data = mujoco.MjData(model)
    for _ in range(1500):  # the joint follows a ramp of 1 rad/s
        data.ctrl[0] = 2 * data.time
        mujoco.mj_step(model, data)
    assert data.time - data.qpos[0] == pytest.approx(lag, abs=0.01)
