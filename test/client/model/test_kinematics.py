# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client's kinematics are those of the server: compared through a real one."""

from pathlib import Path

from bundled_server import port_of
from bundled_server import running_server
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.wire.errors import UnknownName


@pytest.fixture(scope='module')
def served():
    """Return handshake and server of a world with entities, moved a little."""
    with (
        running_server(world='bimanual', step_mode='direct') as server,
        Client(rpc_port=port_of(server), shared=True, observations='full') as client,
    ):
        client.reset('home')
        client.step(50, ctrl=[0.3, -0.2, 1.0, 0.5, 0.2, 0.1, 0.0])
        # After a step MuJoCo's poses are those before its last integration; forward renews them.
        yield client.handshake, client.forward(), server


def posed(served):
    handshake, seen, _ = served
    local = LocalModel(handshake)
    for prefix, state in seen.articulations.items():
        local.write(prefix, state.qpos)
    for name, entity in seen.entities.items():
        if len(entity.qpos):
            local.write_entity(name, entity.qpos)
    local.kinematics()
    return local


def test_bodies_have_the_poses_of_the_server(served):
    local, robot = posed(served), served[1].articulations['bimanual']
    assert len(robot.bodies) > 10
    for name, pose in robot.bodies.items():
        position, quat = local.body_pose(f'bimanual_{name}')
        np.testing.assert_allclose(position, pose.xpos, atol=1e-9)
        assert abs(quat @ pose.xquat) == pytest.approx(1.0)
    for name, entity in served[1].entities.items():
        np.testing.assert_allclose(local.body_pose(name)[0], entity.xpos, atol=1e-9)


def test_sites_and_cameras_have_the_poses_of_mujoco(served):
    local, data = posed(served), mujoco.MjData(served[0].model)
    data.qpos[:] = local.data.qpos
    mujoco.mj_forward(served[0].model, data)
    for read, view, name in (
        (local.site_pose, data.site, 'bimanual_left_tcp'),
        (local.camera_pose, data.camera, 'bimanual_left_wrist_rgb'),
        (local.camera_pose, data.camera, 'scene_rgb'),
    ):
        position, quat = read(name)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, quat)
        np.testing.assert_allclose(position, view(name).xpos, atol=1e-12)
        np.testing.assert_allclose(matrix, view(name).xmat, atol=1e-12)


def test_unsuitable_states_and_names_are_refused(served):
    local = LocalModel(served[0])
    for write, name in ((local.write, 'bimanual'), (local.write_entity, 'ball')):
        with pytest.raises(ProtocolError):
            write(name, [0, 0, 0])
    for read in (local.body_pose, local.site_pose, local.camera_pose):
        with pytest.raises(UnknownName, match='nobody'):
            read('nobody')
    with pytest.raises(UnknownName, match='robot'):
        local.write('robot', [])


@pytest.mark.parametrize('seed', range(3))
def test_contacts_of_some_bodies_are_the_contacts_that_involve_them(served, seed):
    local = posed(served)
    model, chance = local.model, np.random.default_rng(seed)
    # Arms in the table, in each other and in the things that lie on it.
    local.data.qpos[:14] += chance.uniform(-1.5, 1.5, 14)
    local.kinematics()
    points, pairs = local.contacts()
    some = chance.random(model.nbody) < 0.3
    wanted = some[pairs].any(axis=1)
    found, bodies = local.contacts(some)
    assert len(points) > 3
    for both in (np.sort(pairs[wanted], axis=0), np.sort(bodies, axis=0)):
        assert len(both) == wanted.sum()
    np.testing.assert_array_equal(np.sort(points[wanted].sum(axis=1)), np.sort(found.sum(axis=1)))


def test_an_observation_places_scenery_and_its_geoms():
    with (
        running_server(model=Path(__file__).with_name('doors.xml'), step_mode='direct') as server,
        Client(rpc_port=port_of(server), shared=True) as client,
    ):
        local = LocalModel(client.handshake)
        client.set_mocap_pose('ghost', (0.5, 0.5, 0.5), (0.6, 0.8, 0.0, 0.0))
        start = local.data.geom_xpos.copy()
        local.update(client.step(100))
        world = server.simulation.world.data
        assert (np.abs(local.data.geom_xpos - start).max(axis=1) > 0.1).all()
        for name in ('xpos', 'xmat', 'geom_xpos', 'geom_xmat'):
            np.testing.assert_allclose(getattr(local.data, name), getattr(world, name), atol=1e-9)
