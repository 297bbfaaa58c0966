# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""URDF made from compiled models, as an independent parser understands it."""

import xml.etree.ElementTree as ElementTree

from described import loaded
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import xyz_angles
from urlab_ros_bridge.ros.plan.description.link_poses import LinkPoses
from urlab_ros_bridge.ros.plan.description.meshes import MeshesUnwritable
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles


def configuration(robot):
    """Return joint -> position for the parser, from joint_states and ball joints."""
    values = dict(zip(robot.plan.joints, robot.positions(), strict=True))
    qpos = robot.qpos()
    for joint in robot.skeleton.joints:
        if joint.part:
            w, x, y, z = qpos[joint.slot : joint.slot + 4]
            values[joint.name] = xyz_angles((x, y, z, w))['xyz'.index(joint.part)]
    return {name: values[name] for name in robot.urdf.actuated_joint_names if name in values}


def as_matrix(position, turn):
    found = np.eye(4)
    found[:3, :3] = np.array([rotate(turn, axis) for axis in np.eye(3)]).T
    found[:3, 3] = position
    return found


def test_links_have_the_poses_of_mujoco(described):
    """The floating base is the root; what floats beside it is no matter of a configuration."""
    rng, urdf, skeleton = np.random.default_rng(7), described.urdf, described.skeleton
    bodies = {link.name: link.body for link in skeleton.links if link.body >= 0}
    loose = {joint.child for joint in skeleton.joints if joint.kind == 'floating'}
    poses = LinkPoses(skeleton, described.plan.joints)
    anchor = next((name for name in bodies if name not in loose), skeleton.root)
    for _ in range(5):
        described.randomize(rng)
        urdf.update_cfg(configuration(described))
        places = {name: described.in_world(body) for name, body in bodies.items()}
        for name in bodies.keys() - loose:
            expected = np.linalg.inv(places[anchor]) @ places[name]
            assert np.allclose(urdf.get_transform(name, anchor), expected, atol=1e-7), name
        # The transforms that are published lead to the same.
        places.setdefault(skeleton.root, as_matrix(*skeleton.root_pose))
        rows = poses.update(described.positions(), described.qpos())
        for (parent, child), row in zip(poses.frames, rows, strict=True):
            expected = urdf.get_transform(child, parent)
            if child in loose:
                expected = np.linalg.inv(places[parent]) @ places[child]
            assert np.allclose(as_matrix(row[:3], row[3:]), expected, atol=1e-7), child


def test_missing_or_non_finite_positions_give_no_poses(describe):
    robot = describe('free')
    poses = LinkPoses(robot.skeleton, robot.plan.joints)
    positions, qpos = robot.positions(), robot.qpos()
    assert poses.needs_qpos and poses.update(positions, None) is None
    assert poses.update(positions, qpos[:9]) is None
    assert poses.update(np.full(len(positions), np.nan), qpos) is None
    assert poses.update(positions, qpos) is not None


def test_names_are_those_of_joint_states_and_frames(described):
    links, joints = described.urdf.link_map, described.urdf.joint_map
    assert described.urdf.base_link == described.skeleton.root
    for name in described.plan.joints:
        assert name in joints
    for frame in described.plan.tree.bodies.values():
        assert frame in links
    root = ElementTree.fromstring(described.text)
    for kind in ('link', 'joint', 'material'):
        names = [element.get('name') for element in root.findall(kind)]
        assert len(names) == len(set(names)) and all(names)
    sensors = {*described.plan.tree.sites.values(), *described.plan.tree.cameras.values()}
    assert not sensors & set(links), 'sensor frames are published by the bridge itself'


def test_masses_and_inertias_are_those_of_the_model(described):
    model = described.model
    for link in described.skeleton.links:
        inertial = described.urdf.link_map[link.name].inertial
        if link.body < 0 or model.body_mass[link.body] == 0:
            assert inertial is None
            continue
        assert inertial.mass == pytest.approx(model.body_mass[link.body], rel=1e-9)
        assert np.allclose(inertial.origin[:3, 3], model.body_ipos[link.body], atol=1e-9)
        assert np.allclose(inertial.origin[:3, :3], np.eye(3))
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[link.body])
        turn = turn.reshape(3, 3)
        expected = turn @ np.diag(model.body_inertia[link.body]) @ turn.T
        scale = model.body_inertia[link.body].max()
        assert np.allclose(inertial.inertia, expected, atol=1e-8 * scale)


def test_limits_and_friction_are_those_of_the_model(described):
    model = described.model
    for joint in described.skeleton.moving:
        found, index = described.urdf.joint_map[joint.name], joint.joint
        if joint.part or joint.kind == 'floating':
            continue
        if model.jnt_limited[index]:
            assert found.type == ('prismatic' if model.jnt_type[index] == 2 else 'revolute')
            assert (found.limit.lower, found.limit.upper) == pytest.approx(
                tuple(model.jnt_range[index]), abs=1e-9
            )
        else:
            assert found.type == ('prismatic' if model.jnt_type[index] == 2 else 'continuous')
        dof = model.jnt_dofadr[index]
        assert float(found.dynamics.damping) == pytest.approx(model.dof_damping[dof])
        assert float(found.dynamics.friction) == pytest.approx(model.dof_frictionloss[dof])
        assert found.limit.effort > 0 and found.limit.velocity > 0


def test_actuators_limit_joints_and_an_equality_of_joints_is_a_mimic(describe):
    joints = describe('free').urdf.joint_map
    assert joints['knee'].limit.effort == pytest.approx(10.0)  # force 5 x gear 2
    assert joints['knee'].limit.velocity == pytest.approx(4.0)  # setpoint 8 / gear 2
    assert joints['ankle'].limit.velocity == 10.0  # the parameter, where the model sets none
    mimic = joints['ankle'].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ('knee', -2.0, pytest.approx(0.1))
    assert all(joint.mimic is None for name, joint in joints.items() if name != 'ankle')


def test_appearance_is_that_of_the_model(describe):
    robot = describe('free')
    torso = robot.urdf.link_map['base_link']
    box = next(v for v in torso.visuals if v.name == 'core').geometry.box
    assert np.allclose(box.size, (0.2, 0.4, 0.6))
    ellipsoid = next(v.geometry.mesh for v in torso.visuals if v.geometry.mesh)
    assert np.allclose(ellipsoid.scale, (0.2, 0.4, 0.1))
    capsule = [v for v in torso.visuals if v.geometry.cylinder or v.geometry.sphere]
    ends = sorted(float((c.origin[:3, 3] - (0, 0, 0.4)) @ (0, -0.96, -0.28)) for c in capsule)
    assert np.allclose(ends, (-0.2, 0.0, 0.2), atol=1e-6)


def test_an_unwritable_mesh_folder_names_its_parameter(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(MeshesUnwritable, match='mesh_directory'):
        MeshFiles(loaded('free')[0], tmp_path / 'file' / 'meshes').uri(0)
