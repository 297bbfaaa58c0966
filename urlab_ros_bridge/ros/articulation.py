# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of one robot: joint states, odometry, transforms and ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from std_msgs.msg import String

from urlab_ros_bridge.ros import qos
from urlab_ros_bridge.ros.convert import JointStateTemplate
from urlab_ros_bridge.ros.convert import OdometryTemplate
from urlab_ros_bridge.ros.convert import PoseStampedTemplate
from urlab_ros_bridge.ros.convert import static_transforms_to_ros
from urlab_ros_bridge.ros.convert import TFTemplate
from urlab_ros_bridge.ros.convert.frames import footprint_in_base
from urlab_ros_bridge.ros.convert.frames import IDENTITY
from urlab_ros_bridge.ros.convert.frames import normalize
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.gps import gps_feeds
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.plan import WorldPlan
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.state import RobotState


def join(namespace: str, topic: str) -> str:
    """Put a topic into a namespace, if there is one."""
    return f'{namespace}/{topic}' if namespace else topic


def stddevs(override: Sequence[float], told: Any) -> list[float] | None:
    """
    Choose standard deviations: the parameter, else what the server told, else None (unknown).

    >>> stddevs((-1.0,), [0.1] * 6) == [0.1] * 6
    True
    """
    if override[0] >= 0:
        return list(override)
    return [float(value) for value in told] if told else None


def robot_feeds(
    plan: RobotPlan, state: RobotState, publishers: Publishers, settings: Settings
) -> list[Feed]:
    """Make the topics that do not depend on sensors; transforms come first."""
    feeds = []
    if plan.base_joint:
        feeds += _base_feeds(plan, state, publishers, settings)
    if plan.joints:
        feeds.append(_joint_states(plan, state, publishers))
    return feeds


def _joint_states(plan: RobotPlan, state: RobotState, publishers: Publishers) -> Feed:
    template = JointStateTemplate(plan.joints)

    def build(stamp_ns: int) -> Any:
        values = state.joints()
        return None if values is None else template.update(stamp_ns, *values)

    topic = join(plan.namespace, 'joint_states')
    count = len(plan.joints)
    prefixes = (f'{plan.prefix}/joint/'.encode(), f'{plan.prefix}/effort'.encode())
    return Feed(
        topic,
        publishers.get(template.message_type, topic),
        build,
        wire=state.topics[: count + 1],
        subscriptions=prefixes,
        rate_name='joint_state_rate',
    )


def _base_feeds(
    plan: RobotPlan, state: RobotState, publishers: Publishers, settings: Settings
) -> list[Feed]:
    told = plan.covariances
    pose_stddevs = stddevs(settings.pose_stddev, told.get('pose_stddev'))
    twist_stddevs = stddevs(settings.twist_stddev, told.get('twist_stddev'))
    odometry = OdometryTemplate(plan.frames.odom, plan.frames.base, pose_stddevs, twist_stddevs)
    pose = PoseStampedTemplate(plan.frames.map)
    wire = (state.topics[len(plan.joints) + 1],)

    def odom(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else odometry.update(stamp_ns, base)

    def ground_truth(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else pose.update(stamp_ns, base[:3], base[3:7])

    wanted = [('odom', odometry, odom)]
    if settings.publish_ground_truth:
        wanted.append(('ground_truth/pose', pose, ground_truth))
    feeds = []
    if settings.publish_tf or settings.publish_footprint:
        feeds.append(_transforms(plan, state, publishers, settings, wire))
    for name, template, build in wanted:
        topic = join(plan.namespace, name)
        feeds.append(
            Feed(
                topic,
                publishers.get(template.message_type, topic),
                build,
                wire=wire,
                rate_name='odom_rate',
            )
        )
    return feeds + gps_feeds(plan, state, publishers, settings, pose_stddevs)


def _transforms(
    plan: RobotPlan,
    state: RobotState,
    publishers: Publishers,
    settings: Settings,
    wire: tuple[bytes, ...],
) -> Feed:
    frames = plan.frames
    pairs = []
    if settings.publish_tf:
        pairs.append((frames.odom, frames.base))
    if settings.publish_footprint:
        pairs.append((frames.base, frames.footprint))
    template = TFTemplate(pairs)
    publish_tf, publish_footprint = settings.publish_tf, settings.publish_footprint

    def build(stamp_ns: int) -> Any:
        base = state.base()
        if base is None:
            return None
        poses: list[Sequence[float]] = [base[:7]] if publish_tf else []
        if publish_footprint:
            position, turn = footprint_in_base(base[:3], normalize(base[3:7]))
            poses.append((*position, *turn))
        return template.update(stamp_ns, poses)

    topic = join(plan.tf_namespace, 'tf')
    # Absolute, as tf2 listeners expect it, unless robots are kept apart by namespace.
    topic = topic if plan.tf_namespace else '/tf'
    publisher = publishers.get(template.message_type, topic, qos.transform)
    return Feed(topic, publisher, build, wire=wire, rate_name='odom_rate')


def _static_frames(robot: RobotPlan, settings: Settings) -> list[tuple]:
    """Return fixed links, sensors and cameras; robot_state_publisher knows the links alone."""
    links = set(robot.tree.bodies.values())
    wanted = {True: settings.publish_link_tf, False: settings.publish_sensor_frames}
    found = [row for row in robot.tree.static if wanted[row.child in links]]
    return [*found, *(robot.look.static if settings.publish_link_tf else ())]


def static_messages(plan: WorldPlan, settings: Settings) -> dict[str, Any]:
    """
    Return the message of each static transform topic; one message holds all of its transforms.

    They have no stamp: they are true at all times, before and after a reset.
    """
    topics: dict[str, list[tuple]] = {}
    for robot in plan.robots:
        name = f'{robot.tf_namespace}/tf_static' if robot.tf_namespace else '/tf_static'
        found = topics.setdefault(name, [])
        found += _static_frames(robot, settings)
        if robot.tree.mount is not None:
            found.append(robot.tree.mount)
        if settings.publish_map_to_odom and robot.base_joint:
            found.append((robot.frames.map, robot.frames.odom, (0.0, 0.0, 0.0), IDENTITY))
    return {name: static_transforms_to_ros(found) for name, found in topics.items() if found}


def description_messages(plan: WorldPlan) -> dict[str, String]:
    """Return the robot_description of each robot by topic."""
    return {
        join(robot.namespace, 'robot_description'): String(data=robot.look.urdf)
        for robot in plan.robots
        if robot.look.urdf
    }
