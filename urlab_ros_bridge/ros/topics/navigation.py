# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""goal_pose and initialpose: navigation targets that a client of the server, as the page, set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
import math
from types import MappingProxyType

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovarianceStamped

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.ops import NavigationTarget
from urlab_ros_bridge.client.replies.ops import ServerStatus
from urlab_ros_bridge.geometry import yaw_quaternion
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.geometry import initial_pose_to_ros
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.topics.robot import initial_pose
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.ops import GOAL
from urlab_ros_bridge.wire.ops import INITIAL_POSE

# x, y (m^2) and yaw (rad^2) of an estimate by eye: the values of RViz.
_VARIANCES = (0.25, 0.25, 0.0, 0.0, 0.0, (math.pi / 12.0) ** 2)


@dataclass(frozen=True)
class NavigationParameters:
    """Switch of goal_pose, and of initialpose from a page."""

    publish_navigation_targets: bool = key(
        True,
        'Publish the goals and initial poses that are set on the page, on goal_pose and '
        'initialpose, for Nav2.',
    )


def goal_message(target: NavigationTarget, frame: str, stamp_ns: int) -> PoseStamped:
    """Return the message of a goal, whose frame has the origin of the world."""
    pose = pose_to_ros((target.x, target.y, 0.0), yaw_quaternion(target.yaw))
    return PoseStamped(header=header_to_ros(stamp_ns, frame), pose=pose)


def initial_pose_message(
    target: NavigationTarget, frame: str, stamp_ns: int
) -> PoseWithCovarianceStamped:
    """Return the message of an initial pose, whose frame has the origin of the world."""
    header, place = header_to_ros(stamp_ns, frame), (target.x, target.y, 0.0)
    return initial_pose_to_ros(header, place, yaw_quaternion(target.yaw), _VARIANCES)


def feeds(robot: RobotTopics) -> None:
    """Make the publishers of a robot that drives, so that subscribers know them in time."""
    if robot.settings(NavigationParameters).publish_navigation_targets and robot.plan.drives:
        for topic in TOPICS.values():
            robot.publishers.of(topic, topic.named(robot.namespace))


class NavigationTargets(Part):
    """Publishes each navigation target of the server once."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._world = bridge.part(CurrentWorld)
        self._robots: Mapping[str, RobotPlan] = MappingProxyType({})
        self._run: object = None
        self._published = 0  # id of the newest one
        if bridge.settings(NavigationParameters).publish_navigation_targets:
            bridge.part(ServerLink).on_status.append(self._publish_new)

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Take the robots that drive; another world counts its targets from the beginning."""
        self._robots = {robot.prefix: robot for robot in plan.robots if robot.drives}
        run = None if handshake is None else handshake.raw.get('run')
        if run != self._run:
            self._run, self._published = run, 0

    def _publish_new(self, status: ServerStatus, requested: float) -> None:
        for target in status.navigation_targets:
            robot = self._robots.get(target.articulation)
            if target.id > self._published and robot is not None and target.kind in TOPICS:
                self._published = target.id
                self._bridge.run_in_stream(partial(self._publish, target, robot))

    def _publish(self, target: NavigationTarget, robot: RobotPlan) -> None:
        topic, world = TOPICS[target.kind], self._world.topics
        if world is None:
            return
        publisher = world.publishers.of(topic, topic.named(robot.namespace))
        make = goal_message if target.kind == GOAL else initial_pose_message
        publisher.publish(make(target, robot.frames.map, self._bridge.timeline.stamp_ns or 0))
        if not publisher.get_subscription_count():
            self._bridge.log('warning', f'nobody subscribes to {publisher.topic_name}')


GOAL_POSE = Topic(
    '{robot}/goal_pose',
    ('geometry_msgs/msg/PoseStamped',),
    'sensor',
    when='robots that take `cmd_vel`',
    timing='when set on the page',
    switch='publish_navigation_targets',
)
TOPICS = {GOAL: GOAL_POSE, INITIAL_POSE: initial_pose.TOPIC}
FEATURE = Feature(
    'navigation targets',
    NavigationParameters,
    group='What is published',
    topics=(GOAL_POSE,),
    attach=NavigationTargets,
    feeds=feeds,
)
