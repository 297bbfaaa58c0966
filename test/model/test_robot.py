# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One reading of the model: who owns what, slots, bases and chains, against MuJoCo itself."""

from pathlib import Path

from mesh_files import foreign_model
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.robot import NotBelow
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.wire.errors import UnknownName


def robot(file, prefix, *others):
    model = mujoco.MjModel.from_xml_path(str(Path(__file__).with_name(file)))
    return RobotModel(prefix, WorldModel(model, [prefix, *others])), model


@pytest.mark.parametrize(('prefix', 'other'), [('arm', 'arm_left'), ('arm_left', 'arm')])
def test_robots_with_overlapping_prefixes_own_their_elements_only(prefix, other):
    found, model = robot('two_arms.xml', prefix, other)
    assert list(found.joints) == ['j1'] and list(found.actuators) == ['j1']
    assert found.joints['j1'].id == model.joint(f'{prefix}_j1').id
    assert found.actuators['j1'].joint_id == model.joint(f'{prefix}_j1').id
    assert (found.joints['j1'].slot, found.actuators['j1'].index) == (0, 0)
    is_left = prefix == 'arm_left'
    assert list(found.sensors) == ['pos'] * is_left
    assert list(found.cameras) == ['eye'] * is_left
    assert list(found.keyframes) == ['home'] * is_left
    assert list(found.sites) == ['tip'] * (not is_left)


def test_chains_lead_from_the_base_to_every_last_joint_or_any_body_or_site():
    found, _ = robot('hand.xml', 'r')
    assert found.base.name == 'base' and found.base_joint is None and found.free is None
    chains = {c.tip.name: [joint.name for joint in c.joints] for c in found.chains}
    assert chains == {'f1': ['a', 'f1'], 'f2': ['a', 'f2']}
    grip = found.chain('grip')
    assert [body.name for body in grip.bodies] == ['base', 'a', 'palm']
    assert [joint.name for joint in grip.joints] == ['a']
    assert [joint.name for joint in found.chain('nail', 'palm').joints] == ['f2']
    with pytest.raises(NotBelow, match=r"'palm'.*'f1'"):
        found.chain('palm', 'f1')
    with pytest.raises(UnknownName, match='hand'):
        found.chain('hand')


def test_tables_and_slots_are_those_of_mujoco():
    world = load_world(ServerConfig(model=foreign_model('hand/manipulate_block.xml')))
    model, (prefix,) = world.model, world.articulations
    read = WorldModel(model, world.articulations)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for body in read.bodies[1:]:
        pose = read.reference_pose(body.id)
        np.testing.assert_allclose(pose.position, data.xpos[body.id], atol=1e-9)
        turn = abs(np.dot(xyzw_to_wxyz(pose.orientation), data.xquat[body.id]))
        assert turn == pytest.approx(1.0)
        assert body.moves == bool(model.body_dofnum[body.id] or model.body_mocapid[body.id] >= 0)
    robot = RobotModel(prefix, read)
    for kind, count, table in (
        ('joint', model.njnt, robot.all_joints),
        ('actuator', model.nu, robot.actuators.values()),
        ('sensor', model.nsensor, robot.sensors.values()),
        ('body', model.nbody, robot.bodies.values()),
    ):
        names = [getattr(model, kind)(index).name for index in range(count)]
        own = [(index, name) for index, name in enumerate(names) if name.startswith(f'{prefix}_')]
        assert [(element.id, element.compiled) for element in table] == own
    for joint in robot.all_joints:
        data.joint(joint.id).qpos[:], data.joint(joint.id).qvel[:] = joint.id + 1, -joint.id - 1
    for joint in robot.all_joints:
        assert set(data.qpos[joint.qpos_slots]) == {joint.id + 1}
        assert set(data.qvel[joint.dof_slots]) == {-joint.id - 1}
    ids = [joint.id + 1 for joint in robot.all_joints for _ in range(joint.width)]
    assert data.qpos[robot.qpos].tolist() == ids != []
    assert (robot.nq, robot.nu) == (len(ids), len(data.ctrl[robot.ctrl]))
    rates = [-joint.id - 1 for joint in robot.joints.values()]
    assert data.qvel[robot.scalar_dofs].tolist() == rates


KINDS = {
    'position': '<position name="a" joint="j" kp="7" kv="0.5"/>',
    'velocity': '<velocity name="a" joint="j" kv="3"/>',
    'damper': '<damper name="a" joint="j" kv="2" ctrlrange="0 1"/>',
    'muscle': '<muscle name="a" joint="j" lengthrange="0.1 1"/>',
    'adhesion': '<adhesion name="a" body="b" ctrlrange="0 1" gain="2"/>',
}


@pytest.mark.parametrize('kind', KINDS)
def test_the_authored_kind_of_an_actuator_is_found_again(kind):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>'
        f'</worldbody><actuator>{KINDS[kind]}</actuator></mujoco>'
    )
    assert WorldModel(model).actuators[0].authored_kind == kind
