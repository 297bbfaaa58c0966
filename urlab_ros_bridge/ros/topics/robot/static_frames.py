# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms that never change: fixed links, sensors, cameras, and where a fixed base is."""

from __future__ import annotations

from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import WorldTopics
from urlab_ros_bridge.ros.messages.geometry import static_transforms_to_ros
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.parameters import StaticFrameParameters
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.topics.cameras.parameters import CameraParameters
from urlab_ros_bridge.ros.topics.robot.link_tf import LinkTFParameters


def _static_frames(robot: RobotPlan, settings: SettingsReader) -> list[tuple]:
    """Return fixed links, sensors and cameras; robot_state_publisher knows the links alone."""
    links = set(robot.tree.bodies.values())
    links_too = settings(LinkTFParameters).publish_link_tf
    wanted = {True: links_too, False: settings(StaticFrameParameters).publish_sensor_frames}
    found = [row for row in robot.tree.static if wanted[row.child in links]]
    return [
        *found,
        *(robot.appearance.static if links_too else ()),
    ]


def world_feeds(world: WorldTopics) -> None:
    """
    Publish the message of each static transform topic; one message holds all of its transforms.

    They have no stamp: they are true at all times, before and after a reset.
    """
    plan, settings = world.plan, world.settings
    spaces: dict[str, list[tuple]] = {}
    drifts = settings(WheelOdometryParameters).drifts
    identity = settings(StaticFrameParameters).publish_map_to_odom and not drifts
    for robot in plan.robots:
        found = spaces.setdefault(robot.tf_namespace, [])
        found += _static_frames(robot, settings)
        if robot.tree.mount is not None:
            found.append(robot.tree.mount)
        if identity and robot.base_joint:
            found.append((robot.frames.map, robot.frames.odom, (0.0, 0.0, 0.0), IDENTITY))
    if settings(CameraParameters).publish_cameras:
        spaces.setdefault('', []).extend(plan.scene_cameras)
    for space, found in spaces.items():
        if found:
            topic = ROBOT_TF_STATIC if space else TF_STATIC
            world.once(topic, static_transforms_to_ros(found), namespace=space)


_TF = ('tf2_msgs/msg/TFMessage',)
_SWITCHES = ('publish_sensor_frames', 'publish_link_tf')
TF_STATIC = Topic(
    '/tf_static',
    _TF,
    'latched',
    when='robots without namespace, cameras of the scene',
    timing='once',
    switch=(*_SWITCHES, 'publish_cameras'),
)
ROBOT_TF_STATIC = Topic(
    '{robot}/tf_static',
    _TF,
    'latched',
    when='robots with namespace, unless frame_prefix is set',
    timing='once',
    switch=_SWITCHES,
)
FRAMES = (
    FrameRule('a link', 'a link that is fixed to it', 'tf_static', '', 'publish_link_tf'),
    FrameRule(
        'a link',
        'sites of sensors, `CAMERA` (x forward)',
        'tf_static',
        '',
        'publish_sensor_frames',
    ),
    FrameRule(
        '`CAMERA`',
        '`CAMERA_optical_frame` (z forward, y down)',
        'tf_static',
        'cameras of robots',
        'publish_sensor_frames',
    ),
    FrameRule(
        '`SITE`',
        '`SITE_range` (x along the beam)',
        'tf_static',
        'rangefinders',
        'publish_sensor_frames',
    ),
    FrameRule('`map_frame`', '`base_frame`', 'tf_static', 'a base that is fixed to the world'),
    FrameRule(
        '`map_frame`',
        '`odom_frame`',
        'tf_static',
        '`odom_source` ground_truth',
        'publish_map_to_odom',
    ),
)
FEATURE = Feature(
    'static frames',
    StaticFrameParameters,
    group='What is published',
    topics=(TF_STATIC, ROBOT_TF_STATIC),
    frames=FRAMES,
    world_feeds=world_feeds,
)
