# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of a robot, against MuJoCo's kinematics and its camera images."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.plan.frame_tree import static_transforms

ROBOT = Path(__file__).with_name('models') / 'frames.xml'


def frames(model, prefix, base, *arguments, **fields):
    robot = RobotModel(prefix, WorldModel(model, [prefix]))
    return static_transforms(robot, robot.bodies[base], *arguments, **fields)


@pytest.fixture(scope='module')
def robot():
    model = mujoco.MjModel.from_xml_path(str(ROBOT))
    data = mujoco.MjData(model)
    data.joint('bot_pan').qpos = 0.7
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture
def tree(robot):
    return frames(robot[0], 'bot', 'base_link', {'base': 'base_link'})


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
    body = data.body(bodies[frame])
    pose = tuple(body.xpos), wxyz_to_xyzw(body.xquat)
    for item in reversed(chain):
        pose = compose(*pose, item.position, item.orientation)
    return pose


def test_frames_have_the_poses_of_mujoco(robot, tree):
    _model, data = robot
    places = [(frame, data.xpos[i], data.xmat[i]) for i, frame in tree.bodies.items()]
    places += [(frame, data.site_xpos[i], data.site_xmat[i]) for i, frame in tree.sites.items()]
    assert len(places) == 4 + 3
    for frame, position, turn in places:
        found, orientation = world_pose(robot, tree, frame)
        np.testing.assert_allclose(found, position, atol=1e-12)
        np.testing.assert_allclose(matrix(orientation).ravel(), turn, atol=1e-12)


def test_optical_axes_are_those_of_the_image(robot, tree):
    _model, data = robot
    for index in tree.cameras:
        right, up, back = data.cam_xmat[index].reshape(3, 3).T
        optical, camera = tree.optical[index], tree.cameras[index]
        position, orientation = world_pose(robot, tree, optical)
        np.testing.assert_allclose(position, data.cam_xpos[index], atol=1e-12)
        wanted = np.array([right, -up, -back]).T
        np.testing.assert_allclose(matrix(orientation), wanted, atol=1e-12)
        # The camera frame itself follows REP-103: x along the view, z up in the image.
        wanted = np.array([-back, -right, up]).T
        np.testing.assert_allclose(matrix(world_pose(robot, tree, camera)[1]), wanted, atol=1e-12)


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


def test_sensors_may_have_the_frames_of_bodies(robot):
    """Then these have one transform each."""
    given = {'base': 'base_link', 'imu': 'hat', 'front/optical': 'hat'}
    tree = frames(robot[0], 'bot', 'base_link', given)
    children = [each.child for each in tree.static]
    assert len(children) == len(set(children)) and 'hat' in tree.bodies.values()
    assert 'hat' in tree.sites.values() and 'hat' in tree.optical.values()


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
    assert not tree.static
