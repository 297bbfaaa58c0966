# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From a request of the page to the topics of Nav2, through gateway, server and bridge."""

import json
import math

from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovarianceStamped
import pytest

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from urlab_ros_bridge.gateways.virtual_field.page import messages
from urlab_ros_bridge.gateways.virtual_field.page.pages import Page


class PageClient(FieldClient):
    """A page: it makes requests and waits for their answers."""

    def ask(self, **request):
        self.socket.send(bytes([messages.TEXT]) + json.dumps({'id': 1, **request}).encode())
        while True:
            data = self.socket.recv(timeout=60.0)
            if isinstance(data, bytes) and data[0] == messages.TEXT:
                content = json.loads(data[1:])
                if content['type'] == 'answer':
                    return content


@pytest.fixture
def page(server):
    running = server('--world', 'fleet', '--cameras', 'off')
    with field_at(running.ports[0], Page()) as gateway, PageClient(gateway.url) as client:
        client.send('hello', {'role': 'spectator', 'extensions': ['binary']})
        yield running, client


def test_a_goal_and_an_initial_pose_of_the_page_are_published_in_the_map(page, bridge_to):
    running, client = page
    request = {'op': 'navigate', 'robot': 'rover_2', 'position': [1.5, 0.1, -2.0], 'yaw': 2.0}
    assert 'no ROS bridge' in client.ask(**request, kind='goal')['error']
    listener = bridge_to(running)
    goals = listener.listen(PoseStamped, '/rover_2/goal_pose')
    others = listener.listen(PoseStamped, '/rover_1/goal_pose')
    poses = listener.listen(PoseWithCovarianceStamped, '/rover_2/initialpose')
    for topic in ('/rover_2/goal_pose', '/rover_1/goal_pose', '/rover_2/initialpose'):
        wait_until(lambda name=topic: listener.node.count_publishers(name))
    wait_until(lambda: 'target' in client.ask(**request, kind='goal') and goals)
    # The reader of the other topic may have met its writer later.
    wait_until(lambda: 'target' in client.ask(**request, kind='initial_pose') and poses)
    for header, pose in (
        (goals[0].header, goals[0].pose),
        (poses[0].header, poses[0].pose.pose),
    ):
        assert header.frame_id == 'map'
        age = running.now_ns() - header.stamp.sec * 10**9 - header.stamp.nanosec
        assert 0 <= age < 60 * 10**9 and header.stamp != type(header.stamp)()
        assert (pose.position.x, pose.position.y, pose.position.z) == (1.5, 2.0, 0.0)
        assert 2 * math.atan2(pose.orientation.z, pose.orientation.w) == pytest.approx(2.0)
    covariance = poses[0].pose.covariance.reshape(6, 6)
    assert covariance.diagonal().tolist() == pytest.approx(
        [0.25, 0.25, 0.0, 0.0, 0.0, math.radians(15) ** 2]
    )
    assert not others
