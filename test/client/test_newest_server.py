# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client speaks the dialect of plugin v0.6 where it finds it, and its callers see no other."""

import pytest

from urlab_ros_bridge.client import Client
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
