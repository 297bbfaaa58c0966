# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Arms found in models, and their shapes against MuJoCo's own kinematics."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShapes
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

LINK = '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.1"/>'


def robot_of(body, extra=''):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{body}</worldbody>{extra}</mujoco>'
    )
    return model, RobotModel('', WorldModel(model, []))


def chain(*names, end=''):
    """Return a chain of links, each with one hinge."""
    xml = end
    for name in reversed(names):
        step = 'pos="0.3 0 0"' if name != names[0] else ''
        joint = f'<joint name="{name}" axis="0 1 0"/>'
        xml = f'<body name="{name}_link" {step}>{joint}{LINK}{xml}</body>'
    return xml


def base(*parts):
    return f'<body name="base"><geom size="0.1"/>{"".join(parts)}</body>'


def frame_of(model, data, contacts=(), bodies=()):
    return SceneFrame(
        0.0,
        0,
        None,
        data.qpos.copy(),
        data.xpos.copy(),
        data.xquat.copy(),
        data.xmat.reshape(-1, 3, 3).copy(),
        lambda _: (np.array(contacts, float).reshape(-1, 3), np.array(bodies, int).reshape(-1, 2)),
    )


FINGERS = chain('f1') + chain('f2')
TORSO = chain('left_a', 'left_b', 'left_c') + chain('right_a', 'right_b', 'right_c')
GRIPPER = '<actuator><position name="gripper" joint="c" kp="1"/></actuator>'
ARMS = {
    'a wheel is none': (chain('x_a', 'x_b', 'x_c') + chain('wheel'), '', {'x': 'abc'}),
    'fingers end one': (chain('x_a', 'x_b', 'x_c', end=FINGERS), '', {'x': 'abc'}),
    'one finger by its actuator': (chain('a', 'b', 'c'), GRIPPER, {'arm_0': 'ab'}),
    'two on a torso': (
        chain('waist_a', 'waist_b', end=TORSO),
        '',
        {'waist': 'ab', 'left': 'abc', 'right': 'abc'},
    ),
}


@pytest.mark.parametrize('name', ARMS)
def test_arms_are_chains_by_name(name):
    parts, extra, expected = ARMS[name]
    found = find_arms(robot_of(base(parts), extra)[1])
    assert {arm.name: ''.join(j.name[-1] for j in arm.joints) for arm in found} == expected


@pytest.mark.parametrize(
    ('inside', 'place'),
    [
        ('<geom size="0.01"/><site name="other"/><site name="tcp" pos="0.5 0 0"/>', (0.5, 0, 0)),
        ('<geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02"/>', (0, 0, 0.4)),
        ('<geom type="box" size="0.05 0.2 0.05" pos="0 0.2 0"/>', (0, 0.4, 0)),
        ('<geom type="sphere" size="0.1" pos="0 0.3 0"/>', (0, 0.3, 0)),
    ],
)
def test_the_tip_is_the_site_of_a_tool_or_the_end_of_the_last_geom(inside, place):
    end = f'<body name="hand"><joint name="c"/>{inside}</body>'
    (arm,) = find_arms(robot_of(base(chain('a', 'b', end=end)))[1])
    assert arm.nodes[-1].place == pytest.approx(place)
    assert arm.radii[0] == pytest.approx(0.02)


def check_directors(shape):
    """Hold lengths and directors against the centerline."""
    steps = np.diff(shape.centerline, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    np.testing.assert_allclose(shape.lengths, lengths, atol=2e-5)
    frames = np.array(shape.directors)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1),
                               np.tile(np.eye(3), (len(steps), 1, 1)), atol=4e-5)  # fmt: skip
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, atol=4e-5)
    np.testing.assert_allclose(frames[:, 2], steps / lengths[:, None], atol=2e-4)
    # The axes of the tip are the rows of the last frame.
    turn = Rotation.from_quat(shape.tip_rotation).as_matrix()
    np.testing.assert_allclose(turn.T, frames[-1], atol=2e-5)
    np.testing.assert_allclose(shape.base_position, shape.centerline[0])


@pytest.mark.parametrize('seed', range(3))
def test_an_element_that_slides_out_is_as_long_as_its_ends_are_apart(seed):
    """A turret, a boom that slides along itself, a wrist that slides across it, and a hand."""
    parts = (
        ('turret', '0 0 0.2', '<joint name="arm_turn" axis="0 0 1"/>'),
        ('boom', '0.3 0 0', '<joint name="arm_out" type="slide" axis="1 0 0"/>'),
        ('wrist', '0.2 0 0', '<joint name="arm_up" type="slide" axis="0 1 1"/>'),
        ('hand', '0.1 0 0', '<joint name="arm_ball" type="ball"/>'),
    )
    xml = '<site name="tcp" pos="0.1 0 0.05"/>'
    for name, place, joint in reversed(parts):
        xml = f'<body name="{name}" pos="{place}">{joint}<geom size="0.02"/>{xml}</body>'
    model, robot = robot_of(base(xml))
    (arm,) = find_arms(robot)
    data = mujoco.MjData(model)
    chance = np.random.default_rng(seed)
    data.qpos[:3] = chance.uniform(-0.15, 0.15, 3)
    turn = chance.normal(size=4)
    data.qpos[3:] = turn / np.linalg.norm(turn)
    mujoco.mj_kinematics(model, data)
    (shape,) = ArmShapes(robot.world, [arm]).at(frame_of(model, data))
    bodies = [model.body(name).id for name, _, _ in parts]
    ends = [*data.xpos[bodies], data.site('tcp').xpos]
    np.testing.assert_allclose(shape.centerline, y_up(np.array(ends)), atol=2e-5)
    check_directors(shape)


def test_frames_of_a_bent_tentacle_turn_little_from_one_element_to_the_next():
    model = load_world(ServerConfig(world='tentacle')).model
    robot = RobotModel('', WorldModel(model, []))
    (arm,) = find_arms(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.15
    mujoco.mj_kinematics(model, data)
    (shape,) = ArmShapes(robot.world, [arm]).at(frame_of(model, data))
    check_directors(shape)
    frames = np.array(shape.directors)
    assert len(frames) == 14
    assert ((frames[1:] * frames[:-1]).sum(axis=2) > np.cos(0.8)).all()
    assert (np.diff(arm.radii) < 0).all()


def test_contacts_belong_to_the_arm_that_touches_something_else():
    model, robot = robot_of(base(chain('a', 'b', 'c')))
    shapes = ArmShapes(robot.world, find_arms(robot))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    link, other = model.body('a_link').id, model.body('c_link').id
    points = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    frame = frame_of(model, data, points, [[0, link], [link, other], [0, 0]])
    np.testing.assert_array_equal(shapes.at(frame)[0].contacts, [[1, 3, -2]])
