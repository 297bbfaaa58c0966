# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Arms found in models, and their shapes against MuJoCo's own kinematics."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from urlab_ros_bridge.gateways.virtual_field.page.tips import handle_radius
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShapes
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel

LINK = '<geom type="capsule" fromto="0 0 0 {0} 0 0" size="{1}" mass="0.1"/>'


def robot_of(body, extra=''):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{body}</worldbody>{extra}</mujoco>'
    )
    return model, RobotModel('', WorldModel(model, []))


def chain(*names, axis='0 1 0', length=0.3, radius=0.02, end=''):
    """Return a chain of links, each with one hinge."""
    xml = end
    for name in reversed(names):
        step = f'pos="{length} 0 0"' if name != names[0] else ''
        xml = (
            f'<body name="{name}_link" {step}><joint name="{name}" axis="{axis}"/>'
            f'{LINK.format(length, radius)}{xml}</body>'
        )
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


def arms_of(body, extra=''):
    return find_arms(robot_of(body, extra)[1])


def joints(arms):
    return [[joint.name for joint in arm.joints] for arm in arms]


def test_a_chain_is_an_arm_and_a_wheel_is_none():
    assert joints(arms_of(base(chain('a', 'b', 'c'), chain('wheel')))) == [['a', 'b', 'c']]


def test_fingers_end_an_arm_and_are_none():
    fingers = chain('f1') + chain('f2')
    (arm,) = arms_of(base(chain('arm_a', 'arm_b', 'arm_c', end=fingers)))
    assert [joint.name for joint in arm.joints] == ['arm_a', 'arm_b', 'arm_c']
    assert arm.name == 'arm'


def test_one_finger_is_told_by_its_actuator():
    finger = '<actuator><position name="gripper" joint="c" kp="1"/></actuator>'
    assert joints(arms_of(base(chain('a', 'b', 'c')), finger)) == [['a', 'b']]


def test_arms_on_a_torso_are_arms_of_their_own():
    both = chain('left_a', 'left_b', 'left_c') + chain('right_a', 'right_b', 'right_c')
    arms = arms_of(base(chain('waist_a', 'waist_b', end=both)))
    assert [arm.name for arm in arms] == ['waist', 'left', 'right']


def test_the_tip_is_a_site_when_there_is_one_and_else_the_end_of_the_last_geom():
    (arm,) = arms_of(base(chain('a', 'b')))
    assert arm.tip_site is None
    assert arm.nodes[-1].place == pytest.approx((0.3, 0, 0))
    site = '<site name="other"/><site name="tcp" pos="0.5 0 0"/>'
    (arm,) = arms_of(base(chain('a', 'b', end=site)))
    assert arm.tip_site.name == 'tcp'
    assert arm.nodes[-1].place == pytest.approx((0.5, 0, 0))


def test_radii_are_those_of_the_links():
    (arm,) = arms_of(base(chain('a', 'b', radius=0.035)))
    assert arm.radii == pytest.approx((0.035, 0.035))


def test_joints_of_one_place_are_one_node():
    both = '<body name="l"><joint name="x" axis="1 0 0"/><joint name="y"/>{}</body>'
    (arm,) = arms_of(base(both.format(LINK.format(0.3, 0.02))))
    assert len(arm.joints) == 2 and len(arm.nodes) == 2


@pytest.fixture(scope='module')
def snake():
    """Return model, robot and shapes of a chain that bends in all directions."""
    links = ''
    for index in reversed(range(12)):
        axis = ('0 1 0', '0 0 1')[index % 2]
        links = (
            f'<body name="l{index}" pos="0.1 0 0"><joint name="j{index}" axis="{axis}"/>'
            f'{LINK.format(0.1, 0.02)}{links}</body>'
        )
    model, robot = robot_of(base(links))
    return model, robot, ArmShapes(robot.world, find_arms(robot))


@pytest.mark.parametrize('seed', range(20))
def test_shapes_follow_mujoco(snake, seed):
    model, _robot, shapes = snake
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(seed).uniform(-0.4, 0.4, model.nq)
    mujoco.mj_kinematics(model, data)
    (shape,) = shapes.at(frame_of(model, data))
    bodies = [model.body(f'l{index}').id for index in range(12)]
    np.testing.assert_allclose(shape.centerline[:-1], y_up(data.xpos[bodies]), atol=2e-5)
    check_directors(shape)
    # Frames bend as the chain does: no flip between neighbours.
    frames = np.array(shape.directors)
    assert ((frames[1:] * frames[:-1]).sum(axis=2) > 0.5).all()


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


@pytest.mark.parametrize('seed', range(5))
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


def test_the_reach_is_the_length_of_the_chain():
    (arm,) = arms_of(base(chain('a', 'b', 'c', length=0.25)))
    assert arm.reach == pytest.approx(0.75)
    assert handle_radius(arm) == pytest.approx(0.022, abs=1e-3)
    (finger,) = arms_of(base(chain('a', 'b', 'c', length=0.03, radius=0.008)))
    # A handle that hid the finger would be of no use.
    assert handle_radius(finger) < 0.008


def test_normals_turn_with_their_links(snake):
    model, _robot, shapes = snake
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    straight = np.array(shapes.at(frame_of(model, data))[0].directors)
    assert np.abs(straight - straight[0]).max() < 1e-9


def test_contacts_belong_to_the_arm_that_touches_something_else(snake):
    model, _robot, shapes = snake
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    link, other = model.body('l3').id, model.body('l7').id
    points = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    frame = frame_of(model, data, points, [[0, link], [link, other], [0, 0]])
    np.testing.assert_array_equal(shapes.at(frame)[0].contacts, [[1, 3, -2]])
