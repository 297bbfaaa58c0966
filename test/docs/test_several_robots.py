# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/howto/multi_robot.md do what the page says, and its fleet is one."""

import math
from pathlib import Path
import re
import time

from bundled_server import port_of
from bundled_server import running_server
from nav_msgs.msg import Odometry
import pytest
import yaml

from test.config.running_world import interface
from test.config.running_world import RunningWorld
from test.docs.test_how_tos import FILE
from test.docs.test_pages import commands
from urlab_ros_bridge.client import Client

pytestmark = pytest.mark.ros
HOW_TO = Path(__file__).parents[2] / 'docs' / 'howto'
PAGE = HOW_TO / 'multi_robot.md'
PATIENCE = 60


def of_the_page(*words):
    """Return the arguments of the commands that begin with words, options apart by name."""
    for command in commands(PAGE):
        if command[: len(words)] == list(words):
            rest = command[len(words) :]
            options = {}
            while rest[0].startswith('-'):
                name, value = rest[:2] if rest[0] in ('-t', '-r', '--field') else (rest[0], '')
                options[name], rest = value, rest[1 + bool(value) :]
            yield options, rest


def filled(message, values):
    """Set the fields of a message from YAML."""
    for name, value in values.items():
        if isinstance(value, dict):
            filled(getattr(message, name), value)
        else:
            assert hasattr(message, name), name
            setattr(message, name, value)
    return message


class Fleet:
    """The fleet with its bridge, and where its robots are."""

    def __init__(self):
        self.world = RunningWorld('fleet')
        self.listener = self.world.listener
        self._odometry = {
            robot: self.listener.listen(Odometry, f'/{robot}/odom')
            for robot in ('rover_1', 'rover_2')
        }
        self.wait_until(lambda: all(self._odometry.values()))

    def travel(self, robot, from_here):
        end = self.place(robot)
        return math.dist(from_here, end)

    def place(self, robot):
        position = self._odometry[robot][-1].pose.pose.position
        return position.x, position.y

    def wait_for_travel(self, robot, begun, metres):
        self.wait_until(lambda: self.travel(robot, begun) > metres)

    def publish(self, options, words):
        topic, kind, values = words
        message = filled(interface(kind)(), yaml.safe_load(values))
        publisher = self.listener.node.create_publisher(type(message), topic, 1)
        self.wait_until(publisher.get_subscription_count)
        for _ in range(int(options['-t'])):
            publisher.publish(message)
            time.sleep(1 / float(options['-r']))
        self.listener.node.destroy_publisher(publisher)

    def call(self, words):
        name, kind, values = words
        request = filled(interface(kind).Request(), yaml.safe_load(values))
        fields = {field: getattr(request, field) for field in request.get_fields_and_field_types()}
        response = self.listener.call(interface(kind), name, **fields)
        assert response.success, response.message

    @staticmethod
    def wait_until(condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture(scope='module')
def fleet():
    fleet = Fleet()
    yield fleet
    fleet.world.close()


def test_the_commands_of_the_page_move_the_robots_that_they_name(fleet):
    ((options, published),) = of_the_page('ros2', 'topic', 'pub')
    ((_, echoed),) = of_the_page('ros2', 'topic', 'echo')
    (_, twist), (_, reset) = of_the_page('ros2', 'service', 'call')
    assert echoed == ['/rover_1/odom']
    start = {robot: fleet.place(robot) for robot in ('rover_1', 'rover_2')}
    # A starved bridge finds some commands stale, so it may take more of them.
    fleet.wait_until(
        lambda: (
            fleet.publish(options, published) or fleet.travel('rover_1', start['rover_1']) > 0.2
        )
    )
    assert fleet.travel('rover_2', start['rover_2']) < 0.02

    fleet.call(twist)
    fleet.wait_for_travel('rover_2', start['rover_2'], 0.4)  # 2 s: it holds until the next one
    stopped = fleet.place('rover_1')
    fleet.wait_for_travel('rover_2', start['rover_2'], 0.5)
    assert fleet.travel('rover_1', stopped) < 0.02

    fleet.call(reset)
    for robot in start:  # both have a dock
        fleet.wait_for_travel(robot, start[robot], 3.0)


def test_each_robot_has_what_the_page_says(fleet):
    topics, services = fleet.world.topics, fleet.world.services
    row = re.search(r'^\| topics \|.*$', PAGE.read_text(), re.M)[0]
    assert set(re.findall(r'`(/(?:rover|quad)\w+/\w+)`', row)) <= set(topics)
    assert {'/clock', '/diagnostics'} <= set(topics)
    assert {'/reset', '/pause', '/set_twist'} <= set(services)


def test_the_fleet_of_the_page_is_two_robots_of_the_other_page(tmp_path):
    for name, text in FILE.findall((HOW_TO / 'own_robot.md').read_text()):
        (tmp_path / name).write_text(text)
    (text,) = re.findall(r'```yaml\n(.*?)```', PAGE.read_text(), re.S)
    (tmp_path / 'fleet.yaml').write_text(text)
    with running_server(model=tmp_path / 'fleet.yaml', cameras='off') as server:
        rpc, state = port_of(server), port_of(server, 'state')
        with Client(rpc_port=rpc, state_port=state) as client:
            assert set(client.handshake.articulations) == {'red', 'blue'}
            places = {name: one.qpos[:2] for name, one in client.step().articulations.items()}
        assert places['red'] == pytest.approx([0, 1], abs=1e-3)
        assert places['blue'] == pytest.approx([0, -1], abs=1e-3)
