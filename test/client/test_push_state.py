# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""States of a model that the user loaded from the file show the same world on the server."""

from bundled_server import port_of
from bundled_server import running_server
from mesh_files import foreign_model
import mujoco
import numpy as np

from urlab_ros_bridge.client import Client


def same(result, data):
    (robot,) = result.articulations.values()
    assert len(robot.bodies) > 20
    for name, pose in robot.bodies.items():
        np.testing.assert_allclose(pose.xpos, data.body(name).xpos, atol=1e-9)
    np.testing.assert_allclose(result.entities['object'].xpos, data.body('object').xpos)


def test_a_vector_of_the_file_is_a_vector_of_the_world():
    path = foreign_model('hand/manipulate_block.xml')
    own = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(own), np.random.default_rng(0)
    for joint in range(own.njnt):
        if own.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
            data.qpos[own.jnt_qposadr[joint]] = rng.uniform(*own.jnt_range[joint])
    data.joint('object:joint').qpos[:3] = (1.0, 0.9, 0.4)
    mujoco.mj_kinematics(own, data)
    with (
        running_server(model=path) as server,
        Client(rpc_port=port_of(server), shared=True, observations='full') as client,
    ):
        client.set_mode('puppet')
        same(client.push_state(0.1, data.qpos, np.zeros(own.nv)), data)
        client.reset()
        # By joint the order does not matter.
        state = {own.joint(joint).name: data.joint(joint).qpos for joint in range(own.njnt)}
        same(client.push_state(0.2, dict(reversed(state.items())), {}), data)
