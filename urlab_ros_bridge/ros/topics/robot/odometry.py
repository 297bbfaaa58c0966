# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A floating base: odom, its transforms and the ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.geometry import footprint_in_base
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Build
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.features.robot_topics import RobotTopics
from urlab_ros_bridge.ros.messages import OdometryTemplate
from urlab_ros_bridge.ros.messages import PoseStampedTemplate
from urlab_ros_bridge.ros.messages import RosMessageTemplate
from urlab_ros_bridge.ros.messages import TFTemplate
from urlab_ros_bridge.ros.parameters.checks import LARGEST_STDDEV
from urlab_ros_bridge.ros.parameters.checks import numbers_or_unknown
from urlab_ros_bridge.ros.parameters.checks import rate
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.schema import key

_STDDEV_TEXT = 'A negative value: as reported by the server for the robot, else 0 (unknown).'


@dataclass(frozen=True)
class OdometryParameters:
    """What is published of a floating base."""

    odom_rate: float = key(
        50.0,
        'Maximum rate of odom, its transform and the ground truth (Hz of simulation time), '
        '0: every tick.',
        low=0.0,
        check=rate,
        high=10000.0,
        live=True,
    )
    publish_tf: bool = key(True, 'Publish the transform odom_frame -> base_frame.')
    publish_footprint: bool = key(
        True,
        'Publish the transform base_frame -> footprint_frame, unless the robot has a body of that '
        'name.',
    )
    publish_ground_truth: bool = key(True, 'Publish ground_truth/pose.')
    pose_stddev: tuple[float, ...] = key(
        (-1.0,),
        'Standard deviations of the odometry pose: x, y, z (m), roll, pitch, yaw (rad). '
        + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.pose_stddev',
        check=numbers_or_unknown(6),
        group='Covariances',
    )
    twist_stddev: tuple[float, ...] = key(
        (-1.0,),
        'Standard deviations of the odometry twist: x, y, z (m/s), roll, pitch, yaw '
        '(rad/s). ' + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.twist_stddev',
        check=numbers_or_unknown(6),
        group='Covariances',
    )


def stddevs(override: Sequence[float], reported: Any) -> list[float] | None:
    """
    Choose standard deviations: the parameter, else what the server reported, else None (unknown).

    >>> stddevs((-1.0,), [0.1] * 6) == [0.1] * 6
    True
    """
    if override[0] >= 0:
        return list(override)
    return [float(value) for value in reported] if reported else None


def covariances(robot: RobotTopics) -> tuple[list[float] | None, list[float] | None]:
    """Return the standard deviations of a robot's pose and twist, None for what is unknown."""
    reported, settings = robot.plan.covariances, robot.settings
    return (
        stddevs(settings.pose_stddev, reported.get('pose_stddev')),
        stddevs(settings.twist_stddev, reported.get('twist_stddev')),
    )


def feeds(robot: RobotTopics) -> list[Feed]:
    """Make the topics of a robot with a floating base; its transforms come first."""
    plan, state, settings = robot.plan, robot.state, robot.settings
    if not plan.base_joint:
        return []
    odometry = OdometryTemplate(plan.frames.odom, plan.frames.base, *covariances(robot))
    pose = PoseStampedTemplate(plan.frames.map)

    def odom(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else odometry.update(stamp_ns, base)

    def ground_truth(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else pose.update(stamp_ns, base[:3], base[3:7])

    wanted: list[tuple[str, RosMessageTemplate, Build]] = [('odom', odometry, odom)]
    if settings.publish_ground_truth:
        wanted.append(('ground_truth/pose', pose, ground_truth))
    made = [_transforms(robot)] if settings.publish_tf or settings.publish_footprint else []
    return made + [
        robot.feed(
            name,
            template.message_type,
            build,
            wire=robot.base_row,
            rate_name='odom_rate',
            each_instant=True,
        )
        for name, template, build in wanted
    ]


def _transforms(robot: RobotTopics) -> Feed:
    plan, state, settings = robot.plan, robot.state, robot.settings
    frames = plan.frames
    publish_tf = settings.publish_tf
    publish_footprint = settings.publish_footprint and bool(frames.footprint)
    pairs = []
    if publish_tf:
        pairs.append((frames.odom, frames.base))
    if publish_footprint:
        pairs.append((frames.base, frames.footprint))
    template = TFTemplate(pairs)

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
    publisher = robot.publishers.get(template.message_type, topic, qos.transform)
    return Feed(
        topic, publisher, build, wire=robot.base_row, rate_name='odom_rate', each_instant=True
    )


_TF = ('tf2_msgs/msg/TFMessage',)
_SWITCHES = 'publish_tf, publish_footprint'
TOPICS = (
    Topic('/tf', _TF, 'transform', 'robots without namespace', 'odom_rate', _SWITCHES),
    Topic(
        '{robot}/tf',
        _TF,
        'transform',
        'robots with namespace, unless frame_prefix is set',
        'odom_rate',
        _SWITCHES,
    ),
    Topic('{robot}/odom', ('nav_msgs/msg/Odometry',), 'sensor', 'floating base', 'odom_rate'),
    Topic(
        '{robot}/ground_truth/pose',
        ('geometry_msgs/msg/PoseStamped',),
        'sensor',
        'floating base',
        'odom_rate',
        'publish_ground_truth',
    ),
)
FRAMES = (
    FrameRule('`odom_frame`', '`base_frame`', 'tf', 'floating base', 'publish_tf'),
    FrameRule('`base_frame`', '`footprint_frame`', 'tf', 'floating base', 'publish_footprint'),
)
FEATURE = Feature(
    'odometry',
    OdometryParameters,
    group='What is published',
    topics=TOPICS,
    frames=FRAMES,
    feeds=feeds,
)
