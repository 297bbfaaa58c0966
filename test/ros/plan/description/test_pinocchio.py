# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The written URDF as Pinocchio computes with it, against the compiled model in MuJoCo.

Pinocchio is not in the project's environment, since it is half a gigabyte: ``pip install pin``.
"""

from described import Described
from described import MORE
from described import ROBOTS
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import xyz_angles

pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio is not installed (pip install pin)')
BODY = pinocchio.FrameType.BODY
pytestmark = pytest.mark.ros


@pytest.fixture(scope='module', params=[*ROBOTS, *MORE])
def robot(request, tmp_path_factory):
    """Return a described robot and Pinocchio's model of it, with its root fixed."""
    found = Described(request.param, tmp_path_factory.mktemp('meshes'))
    return found, pinocchio.buildModelFromXML(found.text)


def scalars(found, pin):
    """Return (Pinocchio's joint, MuJoCo's joint) for each hinge and slide."""
    pairs = []
    for joint in found.skeleton.joints:
        if joint.joint >= 0 and not joint.part and found.model.jnt_type[joint.joint] in (2, 3):
            pairs.append((pin.getJointId(joint.name), joint.joint))
    return pairs


def configured(found, pin):
    """Return Pinocchio's configuration for the pose that MuJoCo is in."""
    q = pinocchio.neutral(pin)
    values = dict(zip(found.plan.joints, found.positions(), strict=True))
    qpos = found.qpos()
    for joint in found.skeleton.joints:
        if joint.part:
            w, x, y, z = qpos[joint.slot : joint.slot + 4]
            values[joint.name] = xyz_angles((x, y, z, w))['xyz'.index(joint.part)]
    for name, value in values.items():
        if not pin.existJointName(name):
            continue
        joint = pin.joints[pin.getJointId(name)]
        both = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        q[joint.idx_q : joint.idx_q + joint.nq] = both
    return q


def test_forward_kinematics_agree(robot):
    found, pin = robot
    data, rng = pin.createData(), np.random.default_rng(3)
    loose = {joint.child for joint in found.skeleton.joints if joint.kind == 'floating'}
    bodies = {
        link.name: link.body
        for link in found.skeleton.links
        if link.body >= 0 and link.name not in loose
    }
    for _ in range(5):
        found.randomize(rng)
        pinocchio.framesForwardKinematics(pin, data, configured(found, pin))
        anchor = next(iter(bodies))
        start = data.oMf[pin.getFrameId(anchor, BODY)].homogeneous
        expected_start = np.linalg.inv(found.in_world(bodies[anchor]))
        for name, body in bodies.items():
            pose = np.linalg.inv(start) @ data.oMf[pin.getFrameId(name, BODY)].homogeneous
            expected = expected_start @ found.in_world(body)
            np.testing.assert_allclose(pose, expected, atol=1e-9, err_msg=name)


def test_the_mass_matrix_agrees(robot):
    """It holds all masses, centres of mass, inertias and axes at once."""
    found, pin = robot
    pairs = scalars(found, pin)
    if not pairs:
        pytest.skip('nothing turns or slides')
    model, data, rng = found.model, pin.createData(), np.random.default_rng(4)
    dofs = [int(model.jnt_dofadr[joint]) for _, joint in pairs]
    places = [pin.joints[mine].idx_v for mine, _ in pairs]
    for _ in range(3):
        found.randomize(rng)
        mujoco.mj_forward(model, found.data)
        expected = np.empty((len(dofs), len(dofs)))
        column, unit = np.empty(model.nv), np.empty(model.nv)
        for row, dof in enumerate(dofs):
            unit[:] = 0.0
            unit[dof] = 1.0
            mujoco.mj_mulM(model, found.data, column, unit)
            expected[row] = column[dofs]
        expected -= np.diag(model.dof_armature[dofs])
        matrix = pinocchio.crba(pin, data, configured(found, pin))
        mine = (np.triu(matrix) + np.triu(matrix, 1).T)[np.ix_(places, places)]
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(mine, expected, atol=1e-9 * scale)
