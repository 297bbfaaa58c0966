# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Odometry from wheels: exact on arcs, true without slip, off with it, as unsure as it says."""

from __future__ import annotations

import math

from bridge_harness import wait_until
from example_counts import examples
from geometry_msgs.msg import PoseStamped
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from scipy.linalg import expm
from tf2_msgs.msg import TFMessage
from urlab_msgs import srv

from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.ros.topics.robot.wheel_odometry import WheelOdometry
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

DIFFERENTIAL = [(10.0, 0.0, -2.0), (0.0, 0.0, 0.0), (10.0, 0.0, 2.0)]  # an arm joint between
MECANUM = [(20.0, -side * end * 20.0, side * 20.0 * 0.35) for end in (1, -1) for side in (-1, 1)]
speed = st.floats(-2.0, 2.0)


class Drive:
    """A robot of a world under cmd_vel, with its odometry."""

    def __init__(self, path):
        world = load_world(ServerConfig(model=path))
        self.model, self.data = world.model, world.data
        (spec,) = world.spec.articulations
        (self.robot,) = world.articulations.values()
        self.control = ArticulationControl(self.model, self.data, self.robot, spec)
        twist = self.control.twist
        actuators = [self.robot.actuators[name].joint for name in twist.actuators]
        rows = dict(zip(actuators, twist.wheel_matrix, strict=True))
        joints = self.robot.joints.values()
        self._angles = [joint.qpos_address for joint in joints]
        self._speeds = [joint.dof_address for joint in joints]
        matrix = [rows.get(name, (0.0, 0.0, 0.0)) for name in self.robot.joints]
        self.odometry = WheelOdometry(matrix, 0.01, spec.twist.axle)
        mujoco.mj_forward(self.model, self.data)

    def go(self, seconds, forward=0.0, yaw_rate=0.0):
        """Drive, and return how far odometry is from the truth: m and rad."""
        self.control.twist.set((forward, 0, 0), (0, 0, yaw_rate), self.data.time)
        for _ in range(round(seconds / self.model.opt.timestep)):
            self.control.apply(raw=False)
            mujoco.mj_step(self.model, self.data)
            self.odometry.update(
                round(self.data.time * 1e9),
                self.data.qpos[self._angles].astype(np.float32),
                self.data.qvel[self._speeds].astype(np.float32),
                self.base,
            )
        x, y, _, yaw = self.odometry.pose
        truth = self.base
        away = math.hypot(x - truth[0], y - truth[1])
        return away, abs(math.remainder(yaw - yaw_of(truth[3:]), math.tau))

    @property
    def base(self):
        """Position and quaternion xyzw."""
        start = self.robot.base_joint.qpos_address
        x, y, z, qw, qx, qy, qz = self.data.qpos[start : start + 7]
        return x, y, z, qx, qy, qz, qw


@pytest.fixture
def rover():
    drive = Drive(world_path('rover'))
    drive.go(1.0)  # it settles on its wheels
    return drive


@pytest.mark.parametrize(
    ('matrix', 'axle'),
    [(DIFFERENTIAL, None), (DIFFERENTIAL, -0.3), (MECANUM, None)],
    ids=['differential', 'axle behind', 'mecanum'],
)
@settings(max_examples=examples(50))
@given(
    twist=st.tuples(speed, speed, speed),
    start=st.tuples(speed, speed, st.floats(-3.0, 3.0)),
    ticks=st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=20),
)
def test_a_constant_twist_leads_along_its_arc_however_it_is_sampled(
    matrix, axle, twist, start, ticks
):
    matrix = np.array(matrix)
    twist = np.array(twist)
    if not matrix[:, 1].any():
        twist[1] = -twist[2] * (axle or 0.0)
    x, y, yaw = start
    base = (x, y, 0.1, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
    odometry, time = WheelOdometry(matrix, 0.0, axle), 0.0
    for tick in (0.0, *ticks):
        time += tick
        odometry.update(round(time * 1e9), matrix @ twist * time, matrix @ twist, base)

    def group(x, y, yaw):
        return np.array([[0.0, -yaw, x], [yaw, 0.0, y], [0.0, 0.0, 0.0]])

    begin = np.eye(3)
    begin[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
    begin[:2, 2] = x, y
    end = begin @ expm(group(*twist) * time)
    found_x, found_y, height, found_yaw = odometry.pose
    np.testing.assert_allclose((found_x, found_y), end[:2, 2], atol=1e-9)
    turned = found_yaw - math.atan2(end[1, 0], end[0, 0])
    assert abs(math.remainder(turned, math.tau)) < 1e-9
    assert height == 0.1
    np.testing.assert_allclose(odometry.twist, twist, atol=1e-9)


CAR = """
<mujoco>
  <default>
    <geom friction="1.5"/>
    <default class="wheel"><geom type="ellipsoid" size="0.1 0.03 0.1" mass="0.5"/></default>
  </default>
  <worldbody><body name="base_link" pos="0 0 0.1">
    <freejoint name="root"/>
    <geom type="box" size="0.3 0.1 0.04" pos="0 0 0.05" mass="6"/>
    <body pos="-0.2 0.2 0"><joint name="rear_left" axis="0 1 0"/><geom class="wheel"/></body>
    <body pos="-0.2 -0.2 0"><joint name="rear_right" axis="0 1 0"/><geom class="wheel"/></body>
    <body pos="0.2 0.2 0"><joint name="steer_left" axis="0 0 1"/>
      <geom size="0.02" mass="0.1"/>
      <body><joint name="front_left" axis="0 1 0"/><geom class="wheel"/></body></body>
    <body pos="0.2 -0.2 0"><joint name="steer_right" axis="0 0 1"/>
      <geom size="0.02" mass="0.1"/>
      <body><joint name="front_right" axis="0 1 0"/><geom class="wheel"/></body></body>
  </body></worldbody>
  <actuator>
    <velocity name="rear_left" joint="rear_left" kv="5"/>
    <velocity name="rear_right" joint="rear_right" kv="5"/>
    <position name="steer_left" joint="steer_left" kp="50" kv="3"/>
    <position name="steer_right" joint="steer_right" kp="50" kv="3"/>
  </actuator>
</mujoco>
"""
CAR_SIDECAR = """
scene: floor.xml
articulations:
  - prefix: car
    model: car.xml
    twist:
      kind: ackermann
      left: [rear_left]
      right: [rear_right]
      left_steering: steer_left
      right_steering: steer_right
      wheel_radius: 0.1
      track_width: 0.4
      wheelbase: 0.4
      axle: -0.2
      limits: {linear: 1.0, angular: 2.0, linear_acceleration: 0.5, angular_acceleration: 2.0}
"""
FLOOR = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody><geom type="plane" size="20 20 1" friction="1.5"/></worldbody>
</mujoco>
"""


def test_odometry_of_a_car_on_a_circle_is_that_of_its_driven_wheels(tmp_path):
    for name, text in (('car.xml', CAR), ('car.yaml', CAR_SIDECAR), ('floor.xml', FLOOR)):
        (tmp_path / name).write_text(text)
    car = Drive(tmp_path / 'car.yaml')
    car.go(0.5)
    car.go(3.0, 0.5, 0.5)
    begin = np.array(car.base[:2])
    car.odometry.clear()
    away, turned = car.go(math.tau / 0.5 / 2.0, 0.5, 0.5)  # half a circle of 1 m
    assert np.linalg.norm(np.array(car.base[:2]) - begin) == pytest.approx(2.04, rel=0.03)
    assert away < 0.05 and turned < 0.03


@pytest.mark.parametrize('fault', ['a wall', 'a wheel in the air'])
def test_wheels_that_slip_make_it_drift(rover, fault):
    if fault == 'a wall':
        body = rover.robot.base.id
        rover.data.xfrc_applied[body, 0] = -500.0
    else:
        wheel = rover.model.joint('rover_left_wheel').bodyid[0]
        start = rover.model.body_geomadr[wheel]
        for geom in range(start, start + rover.model.body_geomnum[wheel]):
            rover.model.geom_contype[geom] = rover.model.geom_conaffinity[geom] = 0
    away, turned = rover.go(2.0, 0.5)
    assert away > 0.1 or turned > 0.1


def test_a_reset_restores_the_true_pose_and_a_teleport_does_not_show(rover):
    rover.go(1.0, 0.5)
    before = rover.odometry.pose
    start = rover.robot.base_joint.qpos_address
    rover.data.qpos[start : start + 2] += 3.0
    rover.go(rover.model.opt.timestep)
    assert rover.odometry.pose == pytest.approx(before, abs=0.05)
    time = rover.data.time
    mujoco.mj_resetData(rover.model, rover.data)
    rover.data.time = time
    away, _ = rover.go(rover.model.opt.timestep)
    assert away < 1e-9 and not rover.odometry.covariance.any()


def at_rest(listener):
    """Return odometry of a robot that stands, with the truth and transforms of the same tick."""
    odom, poses, transforms = (
        list(listener.received[topic]) for topic in ('/odom', '/ground_truth/pose', '/tf')
    )
    truths = {str(pose.header.stamp): pose for pose in poses}
    frames = {
        str(message.transforms[0].header.stamp): message
        for message in transforms
        if message.transforms[0].header.frame_id == 'map'
    }
    for message in odom:
        stamp = str(message.header.stamp)
        if abs(message.twist.twist.linear.x) < 1e-3 and stamp in truths and stamp in frames:
            return message, truths[stamp], frames[stamp]
    return None


def test_the_bridge_publishes_it_with_the_true_place_of_odom_in_the_map(bundled):
    parameters = {'odom_source': 'wheels', 'publish_map_to_odom': True}
    _, bridge, listener = bundled({'world': 'rover'}, **parameters)
    client = bridge.link.client
    wait_until(lambda: bridge.settled, 20.0)
    client.set_twist('rover', (0.4, 0.0, 0.0), (0.0, 0.0, 0.4))
    # It is integrated before anybody listens.
    wait_until(lambda: bridge.stream.timeline.stamp_ns > 2_000_000_000)
    for kind, topic in (
        (TFMessage, '/tf'),
        (Odometry, '/odom'),
        (PoseStamped, '/ground_truth/pose'),
    ):
        listener.listen(kind, topic)
    client.set_twist('rover', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    odom, truth, frames = wait_until(lambda: at_rest(listener))
    assert odom.pose.pose.position.x == pytest.approx(truth.pose.position.x, abs=0.05)
    assert 0.0 < odom.pose.covariance[0] < 1.0 and odom.twist.covariance[0] > 0.0
    to_odom, to_base = (item.transform for item in frames.transforms[:2])
    assert frames.transforms[1].child_frame_id == odom.child_frame_id
    yaw = yaw_of((0.0, 0.0, to_odom.rotation.z, to_odom.rotation.w))
    x, y = to_base.translation.x, to_base.translation.y
    assert to_odom.translation.x + math.cos(yaw) * x - math.sin(yaw) * y == pytest.approx(
        truth.pose.position.x, abs=1e-3
    )
    assert listener.call(srv.Reset, '/reset').success
    again = listener.wait_for(Odometry, '/odom', lambda message: message.pose.covariance[0] < 1e-6)
    assert abs(again.pose.pose.position.x) < 1e-2


def test_wheel_odometry_without_wheels_is_refused_with_the_valid_drives(small_server, bridged):
    bridge, _ = bridged(small_server(), odom_source='wheels')
    wait_until(lambda: bridge.settled, 20.0)
    (note,) = [note for note in bridge.stream.world.notes if 'odom_source' in note]
    assert 'differential, ackermann, omni' in note and 'planar' in note
    names = {publisher.topic_name for publisher in bridge.node.publishers}
    assert '/ground_truth/pose' in names and '/odom' not in names
