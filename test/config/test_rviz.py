# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped RViz files show what the bridge publishes."""

import functools

from rclpy.qos import DurabilityPolicy
from rclpy.qos import ReliabilityPolicy
import yaml

from test.config.running_world import file_of
from test.config.running_world import interface

# Class of a display -> type that it subscribes to.
TYPES = {
    'Image': 'sensor_msgs/msg/Image',
    'LaserScan': 'sensor_msgs/msg/LaserScan',
    'MarkerArray': 'visualization_msgs/msg/MarkerArray',
    'Odometry': 'nav_msgs/msg/Odometry',
    'PointCloud2': 'sensor_msgs/msg/PointCloud2',
    'RobotModel': 'std_msgs/msg/String',
    'Wrench': 'geometry_msgs/msg/WrenchStamped',
}


@functools.cache
def load(world):
    return yaml.safe_load(file_of('rviz_config', world).read_text())['Visualization Manager']


def kind(display):
    return display['Class'].rpartition('/')[2]


def displays(manager):
    """Return all displays, those of groups too."""
    found = []
    for display in manager['Displays']:
        found += displays(display) if kind(display) == 'Group' else [display]
    return found


def topic_of(display):
    return display.get('Description Topic') or display.get('Topic')


def with_topics(world, *kinds):
    found = [each for each in displays(load(world)) if topic_of(each)]
    return [each for each in found if not kinds or kind(each) in kinds]


def is_latched(display):
    return topic_of(display)['Durability Policy'] == 'Transient Local'


def test_every_display_gets_its_topic_type_and_qos(running):
    for display in with_topics(running.name):
        asked, topic = topic_of(display), f'/{topic_of(display)["Value"]}'
        assert running.topics.get(topic) == [TYPES[kind(display)]], topic
        offered = running.publisher_qos(topic)
        if asked['Reliability Policy'] == 'Reliable':
            assert offered.reliability == ReliabilityPolicy.RELIABLE, topic
        # A late subscriber gets latched messages only with that durability.
        latched = offered.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert is_latched(display) == latched, topic


def test_all_frames_are_in_the_tree_of_the_fixed_frame(running):
    manager = load(running.name)
    fixed = manager['Global Options']['Fixed Frame']
    roots = running.roots()
    views = [manager['Views']['Current'], *manager['Views']['Saved']]
    frames = {view['Target Frame'] for view in views} - {'<Fixed Frame>'}
    for display in with_topics(running.name, 'LaserScan', 'Odometry', 'Wrench', 'MarkerArray'):
        topic = topic_of(display)['Value']
        if display['Name'] != 'Drawings':  # nothing is drawn
            message = running.first(interface(TYPES[kind(display)]), topic, is_latched(display))
            frames |= {each.header.frame_id for each in getattr(message, 'markers', [message])}
    assert {frame: roots.get(frame) for frame in frames} == dict.fromkeys(frames, roots[fixed])
