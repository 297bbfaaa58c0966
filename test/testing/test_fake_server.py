# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The fake server: the rules of the protocol that it claims, and its scripts."""

import time

import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import NoTwistController
from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.testing import FakeRobot
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.testing.fake_server import CLAIMS
from urlab_ros_bridge.wire.errors import UnknownName

ROBOTS = (
    FakeRobot('rover', ('pan', 'tilt'), sensors={'range': (1.0, 2.0)}),
    FakeRobot('arm', ('a',), False),
)


@pytest.fixture
def served(keep):
    """Return a function: robots -> a server and a connected client."""

    def start(*robots, **options):
        server = keep(FakeServer(robots or 'rover', **options))
        client = keep(Client('127.0.0.1', server.ports['rpc'], shared=True))
        client.connect()
        return server, client

    return start


@pytest.mark.parametrize('extensions', [FakeServer.EXTENSIONS, ()])
def test_the_fake_server_follows_the_rules_that_it_claims(extensions):
    checks = {check.name: check for check in all_checks()}
    assert set(CLAIMS) <= set(checks)
    with FakeServer(ROBOTS, extensions=extensions) as server:
        ends = {name: f'tcp://127.0.0.1:{port}' for name, port in server.ports.items()}
        peer = Peer(Places('127.0.0.1', ends['rpc'], ends['state'], '', ''))
        peer.connect()
        plan = Plan(tuple(checks[name] for name in CLAIMS), transports=('zmq',))
        results = [*run(peer, plan)]
        peer.close()
    wrong = [(r.name, r.outcome, r.expected, r.got, r.reason) for r in results]
    assert [each for each in wrong if each[1] != 'pass'] == []
    assert len(results) > 60


def test_a_scripted_robot_follows_its_script_and_another_its_twist_until_it_times_out(served):
    def circle(robot, now, timestep):
        angle = now + timestep
        robot.place[:2] = np.cos(angle), np.sin(angle)
        robot.positions['pan'] = angle

    robots = FakeRobot('scripted', ('pan',), script=circle), FakeRobot('rover')
    server, client = served(*robots, mode='direct')
    client.set_twist('rover', (1.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2), timeout=1.0)
    state = client.step(100).articulations['scripted']
    np.testing.assert_allclose(state.qpos[:2], [np.cos(1.0), np.sin(1.0)])
    assert state.qpos[7] == pytest.approx(1.0)
    # A quarter of a circle of radius v / w, by Euler's method with steps of 10 ms.
    rover = server.robots['rover']
    np.testing.assert_allclose(rover.place[:2], [2 / np.pi, 2 / np.pi], atol=0.01)
    client.step(50)
    assert rover.yaw == pytest.approx(np.pi / 2) and rover.velocity == (0.0, 0.0, 0.0)
    assert client.reset().articulations['scripted'].qpos[:3].tolist() == [0.0, 0.0, 0.0]


def test_requests_are_recorded_and_refusals_and_stalls_scripted(served):
    server, client = served()
    server.refuse('set_twist', 'no_twist_controller', 'it is in repair')
    with pytest.raises(NoTwistController, match='in repair'):
        client.set_twist('rover', (1.0, 0.0, 0.0))
    client.set_twist('rover', (0.5, 0.0, 0.0))
    assert [r['linear'][0] for r in server.requests_of('set_twist')] == [1.0, 0.5]
    with pytest.raises(UnknownName, match='set_twist'):
        server.refuse('dance', 'bad_value')
    server.stall(0.5)
    wall = time.monotonic()
    client.step()
    assert time.monotonic() - wall > 0.3
