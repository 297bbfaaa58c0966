# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client speaks the dialect of plugin v0.6 where it finds it, and its callers see no other."""

import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.errors import BadMode
from urlab_ros_bridge.testing import FakeNewestServer
from urlab_ros_bridge.testing import FakeRobot


@pytest.fixture
def server():
    robots = [FakeRobot('rover'), FakeRobot('arm', joints=('elbow',), free_base=False)]
    with FakeNewestServer(robots) as made:
        yield made


@pytest.fixture
def client(server):
    with Client(rpc_port=server.ports['rpc']) as made:
        yield made


def test_the_handshake_is_that_of_the_page(client):
    handshake = client.handshake
    assert set(handshake.articulations) == {'rover', 'arm'}
    assert handshake.articulations['arm'].actuator_types == {'elbow': 'position'}
    crate = handshake.entities['crate']
    assert crate.has_free_base and (crate.id, crate.free_joint) == (7, 'crate_free')
    assert handshake.urlab_version.startswith('urlab/0.6')


def test_modes_have_other_names_and_steps_separate_robots_and_entities(server, client):
    for mode, there in (('puppet', 'statepushed'), ('live', 'freerun'), ('direct', 'stepped')):
        assert client.set_mode(mode).current == mode
        assert server.requests_of('set_mode')[-1]['mode'] == there
    with pytest.raises(BadMode):
        client.set_mode('sideways')
    result = client.step(3, ctrl={'arm': [0.5]})
    assert set(result.articulations) == {'rover', 'arm'}
    assert result.articulations['arm'].qpos.tolist() == [0.5]
    assert result.entities['crate'].xpos.tolist() == [1.0, 2.0, 0.5]
    client.set_mode('puppet')
    assert client.push_state(4.0, [0.0], [0.0]).time == 4.0
    assert server.requests_of('step')[-1]['mode'] == 'statepushed'


def test_a_robot_is_claimed_before_its_first_command_and_released_at_the_end(server, client):
    client.set_mode('direct')
    client.step()
    assert not server.requests_of('claim_control')  # reading needs no claim
    for _ in range(2):
        client.step(ctrl={'arm': [0.1]})
        client.set_twist('rover', [0.2, 0.0, 0.0])
    assert [r['articulation'] for r in server.requests_of('claim_control')] == ['arm', 'rover']
    client.close()
    assert not server.owners


def test_the_state_stream_is_one_message_a_tick(server, client):
    with StateStream(state_port=server.ports['state'], topics=['state/full']) as stream:
        first, second = (stream.receive(5.0) for _ in range(2))
    assert second.stamp_ns > first.stamp_ns
    state = second.state()
    assert state.articulations['rover'].twist is not None
    assert state.entities['crate'].xpos.tolist() == [1.0, 2.0, 0.5]
