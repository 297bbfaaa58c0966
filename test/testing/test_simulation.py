# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation with a bridge, and messages that are waited for in simulation time."""

import time

import pytest

from urlab_ros_bridge.testing import domains
from urlab_ros_bridge.testing import FakeRobot
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.testing import Simulation
from urlab_ros_bridge.testing import wait_for_message
from urlab_ros_bridge.testing.errors import NotInTime

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402


@pytest.fixture(scope='module')
def faked():
    """A bridge on a fake server: without MuJoCo, and time is ours."""
    server = FakeServer(FakeRobot('rover', ('pan',)), mode='live')
    with server, Simulation(server=server, bridge={'cmd_vel_type': 'twist'}) as running:
        yield server, running


def test_limits_are_of_simulation_time_or_of_wall_time(faked):
    _, running = faked
    running.client.set_sim_speed(20.0)
    wall = time.monotonic()
    with pytest.raises(NotInTime, match=r'none of \d+ messages satisfied .* 0.4 s of sim'):
        running.wait_for_message(Odometry, 'odom', 0.4, lambda m: False)
    assert time.monotonic() - wall > 1.5
    running.client.set_sim_speed(100.0)
    running.client.set_paused(True)
    with pytest.raises(NotInTime, match='within 1 s of wall time'):
        running.wait_for_message(Odometry, 'odom', 0.5, lambda m: False, wall_timeout=1.0)
    running.client.set_paused(False)


def test_an_unspun_node_is_spun_and_receives_latched_messages(faked):
    _, running = faked
    import rclpy

    once = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    running.node.create_publisher(String, 'once', once).publish(String(data='said before'))
    context = Context()
    rclpy.init(context=context, domain_id=running.domain)
    node = Node('mine', context=context)
    try:
        assert wait_for_message(node, Odometry, 'odom', 10.0).child_frame_id
        assert node.executor is None
        assert wait_for_message(node, String, '/once', 10.0).data == 'said before'
        assert not list(node.subscriptions)[1:]
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_a_simulation_shares_its_domain_with_nobody(faked, monkeypatch):
    _, running = faked
    monkeypatch.setattr(domains, 'NUMBERS', (running.domain,))
    with pytest.raises(domains.NoFreeDomain):
        domains.take_domain()
    assert running.wait_for_message(Odometry, 'odom', 10.0)
    assert running.node.count_publishers('/clock') == 1
