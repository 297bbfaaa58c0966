# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of a robot, against MuJoCo's kinematics and its camera images."""

import json
import os
import sys

from lifelines import run_process
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.plan.frame_tree import static_transforms

ROBOT = """
<mujoco>
  <worldbody>
    <light pos="0 0 5"/>
    <body name="crate" pos="9 9 9"><freejoint/><geom size="0.1"/></body>
    <body name="bot_base_link" pos="1 2 0.5" euler="10 20 30">
      <freejoint name="bot_base"/>
      <geom size="0.1"/>
      <site name="bot_imu" pos="0.1 0.2 0.3" euler="0 0 45"/>
      <site name="bot_ornament" pos="0 0 1"/>
      <site name="bot_sonar" pos="0.2 0 0" euler="0 90 0"/>
      <body name="bot_mast" pos="0 0 0.4" euler="0 0 90">
        <geom size="0.05"/>
        <camera name="bot_front" pos="0.05 0 0.1" xyaxes="0 -1 0 0.2 0 1" fovy="60"/>
        <camera name="bot_chaser" mode="track" pos="0 0 2"/>
        <body name="bot_head" pos="0 0 0.1">
          <joint name="bot_pan" axis="0 0 1"/>
          <geom size="0.05"/>
          <site name="bot_head" pos="0.05 0 0"/>
          <camera name="bot_eye_link" pos="0 0 0.05" xyaxes="0 -1 0 0 0 1"/>
          <body name="bot_hat" pos="0 0 0.1"><geom size="0.02"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <gyro name="bot_gyro" site="bot_imu"/>
    <accelerometer name="bot_acc" site="bot_imu"/>
    <rangefinder name="bot_sonar" site="bot_sonar"/>
    <touch name="bot_head" site="bot_head"/>
  </sensor>
</mujoco>
"""


def frames(model, prefix, base, *arguments, **fields):
    robot = RobotModel(prefix, WorldModel(model, [prefix]))
    return static_transforms(robot, robot.bodies[base], *arguments, **fields)


@pytest.fixture(scope='module')
def robot():
    model = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(model)
    data.joint('bot_pan').qpos = 0.7
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture
def tree(robot):
    return frames(robot[0], 'bot', 'base_link', {'base': 'base_link'})


def body_pose(data, name):
    return tuple(data.body(name).xpos), wxyz_to_xyzw(data.body(name).xquat)


def matrix(quaternion):
    return np.array([rotate(quaternion, axis) for axis in np.eye(3)]).T


def world_pose(robot, tree, frame):
    """Chain the static transforms of a frame up to a body, and add MuJoCo's pose of the body."""
    _, data = robot
    bodies = {name: index for index, name in tree.bodies.items()}
    chain = []
    parents = {item.child: item for item in tree.static}
    while frame not in bodies or (frame in parents and frame != tree.base):
        chain.append(parents[frame])
        frame = parents[frame].parent
    pose = body_pose(data, robot[0].body(bodies[frame]).name)
    for item in reversed(chain):
        pose = compose(*pose, item.position, item.orientation)
    return pose


def test_frames_have_the_poses_of_mujoco(robot, tree):
    _model, data = robot
    checked = 0
    for index, frame in tree.bodies.items():
        position, orientation = world_pose(robot, tree, frame)
        np.testing.assert_allclose(position, data.xpos[index], atol=1e-12)
        np.testing.assert_allclose(matrix(orientation).ravel(), data.xmat[index], atol=1e-12)
        checked += 1
    for index, frame in tree.sites.items():
        position, orientation = world_pose(robot, tree, frame)
        np.testing.assert_allclose(position, data.site_xpos[index], atol=1e-12)
        np.testing.assert_allclose(matrix(orientation).ravel(), data.site_xmat[index], atol=1e-12)
        checked += 1
    assert checked == 4 + 3


def test_optical_axes_are_those_of_the_image(robot, tree):
    _model, data = robot
    for index in tree.cameras:
        camera = data.cam_xmat[index].reshape(3, 3)
        right, up, back = camera.T
        position, orientation = world_pose(robot, tree, tree.optical[index])
        np.testing.assert_allclose(position, data.cam_xpos[index], atol=1e-12)
        np.testing.assert_allclose(
            matrix(orientation), np.array([right, -up, -back]).T, atol=1e-12
        )
        # The camera frame itself follows REP-103: x along the view, z up in the image.
        _, orientation = world_pose(robot, tree, tree.cameras[index])
        np.testing.assert_allclose(
            matrix(orientation), np.array([-back, -right, up]).T, atol=1e-12
        )


# In a process of its own: MuJoCo chooses its renderer when it is imported.
DRAW = """
import json, sys
import mujoco, numpy
spec = mujoco.MjSpec.from_string(sys.stdin.read())
spec.worldbody.add_geom(name='mark', type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0, 0],
                        pos=json.loads(sys.argv[1]))
model = spec.compile()
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
try:
    renderer = mujoco.Renderer(model, 240, 320)
except Exception as error:
    sys.exit(f'no renderer: {error}')
renderer.enable_segmentation_rendering()
renderer.update_scene(data, 'bot_front')
rows, columns = numpy.nonzero(renderer.render()[:, :, 0] == model.geom('mark').id)
print(json.dumps([rows.mean(), columns.mean()]))
"""


def test_a_point_is_drawn_where_the_optical_frame_says(robot, tree):
    optical = world_pose(robot, tree, tree.optical[robot[0].camera('bot_front').id])
    # Right of the middle and below it, two metres ahead.
    point, _ = compose(*optical, (0.5, 0.25, 2.0), (0, 0, 0, 1))
    result = run_process(
        [sys.executable, '-c', DRAW, json.dumps([float(x) for x in point])],
        input=ROBOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, 'MUJOCO_GL': 'egl', 'PYOPENGL_PLATFORM': 'egl'},
    )
    if 'no renderer' in result.stderr:
        pytest.skip(result.stderr.splitlines()[-1])
    row, column = json.loads(result.stdout)
    focal = 120 / np.tan(np.deg2rad(30))
    assert column == pytest.approx(159.5 + focal * 0.25, abs=1.5)
    assert row == pytest.approx(119.5 + focal * 0.125, abs=1.5)


def test_renamed_prefixed_and_reserved(robot):
    tree = frames(
        robot[0],
        'bot',
        'base_link',
        {'base': 'base_link', 'imu': 'imu_link', 'front': 'camera_link'},
        base_frame='torso',
        frame_prefix='bot/',
        exclude=['hat'],
    )
    children = {item.child for item in tree.static}
    assert tree.base == 'bot/torso'
    assert {'bot/imu_link', 'bot/camera_link', 'bot/camera_optical_frame'} <= children
    assert 'bot/hat' not in children and 'bot/hat_body_5' in children
    assert all(item.child.startswith('bot/') for item in tree.static)


def test_a_base_without_joints_is_mounted_in_the_world():
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><worldbody><body name="table" pos="1 0 1" euler="0 0 90">
          <body name="arm" pos="0.5 0 0"><geom size="0.1"/>
            <body name="link"><joint/><geom size="0.1"/></body></body></body></worldbody></mujoco>
        """)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tree = frames(model, '', 'arm', world_frame='map')
    assert tree.mount[:2] == ('map', 'arm')
    np.testing.assert_allclose(tree.mount.position, data.body('arm').xpos, atol=1e-12)
    np.testing.assert_allclose(
        matrix(tree.mount.orientation).ravel(), data.body('arm').xmat, atol=1e-12
    )
    assert [item.child for item in tree.moving] == ['link']
