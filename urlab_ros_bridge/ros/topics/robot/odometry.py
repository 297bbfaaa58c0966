# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A floating base: odom, from the truth or from wheels, its transforms and the ground truth."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from urlab_ros_bridge.geometry import footprint_in_base
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import yaw_quaternion
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.geometry import PoseStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import TFTemplate
from urlab_ros_bridge.ros.messages.robot import OdometryTemplate
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.parameters.checks import stddev_key
from urlab_ros_bridge.ros.plan.parameters import StaticFrameParameters
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.ros.topics.robot.wheel_odometry import NoWheels
from urlab_ros_bridge.ros.topics.robot.wheel_odometry import wheel_odometry
from urlab_ros_bridge.ros.topics.robot.wheel_odometry import WheelOdometry
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class OdometryParameters:
    """Rate, switches and standard deviations of a floating base."""

    odom_rate: float = rate_key(50.0, 'odom, its transform and the ground truth')
    publish_tf: bool = key(True, 'Publish the transform odom_frame -> base_frame.')
    publish_footprint: bool = key(
        True,
        'Publish the transform base_frame -> footprint_frame, unless the robot has a body of that '
        'name.',
    )
    publish_ground_truth: bool = key(True, 'Publish ground_truth/pose.')
    pose_stddev: tuple[float, ...] = stddev_key(
        (-1.0,),
        'pose_stddev',
        'Standard deviations of the odometry pose: x, y, z (m), roll, pitch, yaw (rad).',
        size=6,
    )
    twist_stddev: tuple[float, ...] = stddev_key(
        (-1.0,),
        'twist_stddev',
        'Standard deviations of the odometry twist: x, y, z (m/s), roll, pitch, yaw (rad/s).',
        size=6,
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
    reported, options = robot.plan.covariances, robot.settings(OdometryParameters)
    return (
        stddevs(options.pose_stddev, reported.get('pose_stddev')),
        stddevs(options.twist_stddev, reported.get('twist_stddev')),
    )


def feeds(robot: RobotTopics) -> None:
    """Make the topics of a robot with a floating base; its transforms come first."""
    plan, state = robot.plan, robot.state
    if not plan.base_joint:
        return
    pose = PoseStampedTemplate(plan.frames.map)

    def ground_truth(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else pose.update(stamp_ns, base[:3], base[3:7])

    robot.feed(GROUND_TRUTH, ground_truth, wire=robot.base_row)
    if robot.settings(WheelOdometryParameters).drifts:
        try:
            wheels = wheel_odometry(robot)
        except NoWheels as error:
            robot.notes.append(str(error))
            state.odom_in_world = lambda: None
        else:
            _feed_from_wheels(robot, wheels)
    else:
        _feed_truth(robot)


def _feed_truth(robot: RobotTopics) -> None:
    state, frames = robot.state, robot.plan.frames
    odometry = OdometryTemplate(frames.odom, frames.base, *covariances(robot))

    def odom(stamp_ns: int) -> Any:
        base = state.base()
        return None if base is None else odometry.update(stamp_ns, base)

    _feed_transforms(robot, lambda: _true_pose(robot))
    robot.feed(ODOM, odom, wire=robot.base_row)


def _feed_from_wheels(robot: RobotTopics, wheels: WheelOdometry) -> None:
    frames = robot.plan.frames
    _, twist_stddev = covariances(robot)
    odometry = OdometryTemplate(frames.odom, frames.base, None, twist_stddev)

    def odom(stamp_ns: int) -> Any:
        if not wheels.is_known:
            return None
        return odometry.update_planar(
            stamp_ns,
            wheels.pose,
            wheels.twist.tolist(),
            wheels.pose_covariance,
            wheels.twist_covariance if twist_stddev is None else None,
        )

    def pose() -> Pose | None:
        x, y, z, yaw = wheels.pose
        return Pose((x, y, z), yaw_quaternion(yaw)) if wheels.is_known else None

    def odom_in_world() -> Pose | None:
        truth, in_odom = _true_pose(robot), pose()
        return None if truth is None or in_odom is None else truth.then(in_odom.inverse())

    robot.state.odom_in_world = odom_in_world
    _feed_transforms(robot, pose, robot.settings(StaticFrameParameters).publish_map_to_odom)
    robot.feed(ODOM, odom, wire=robot.base_row)


def _true_pose(robot: RobotTopics) -> Pose | None:
    base = robot.state.base()
    return None if base is None else Pose((base[0], base[1], base[2]), normalize(base[3:7]))


def _feed_transforms(
    robot: RobotTopics, pose: Callable[[], Pose | None], map_to_odom: bool = False
) -> None:
    """
    Publish the transforms of the base.

    :param pose: returns that of the base in the odometry frame.
    :param map_to_odom: publish the transform that makes the base's pose in the map frame true.
    """
    frames, options = robot.plan.frames, robot.settings(OdometryParameters)
    publish_tf = options.publish_tf
    publish_footprint = options.publish_footprint and bool(frames.footprint)
    pairs = []
    if map_to_odom:
        pairs.append((frames.map, frames.odom))
    if publish_tf:
        pairs.append((frames.odom, frames.base))
    if publish_footprint:
        pairs.append((frames.base, frames.footprint))
    if not pairs:
        return
    template = TFTemplate(pairs)

    def build(stamp_ns: int) -> Any:
        origin, in_odom = robot.state.odom_in_world(), pose()
        if origin is None or in_odom is None:
            return None
        poses: list[tuple[float, ...]] = []
        if map_to_odom:
            poses.append((*origin.position, *origin.orientation))
        if publish_tf:
            poses.append((*in_odom.position, *in_odom.orientation))
        if publish_footprint:
            below, turn = footprint_in_base(in_odom.position, in_odom.orientation)
            poses.append((*below, *turn))
        return template.update(stamp_ns, poses)

    robot.feed(ROBOT_TF if robot.plan.tf_namespace else TF, build, wire=robot.base_row)


_TF = ('tf2_msgs/msg/TFMessage',)
_SWITCHES = ('publish_tf', 'publish_footprint', 'publish_map_to_odom')
# Absolute, as tf2 listeners expect it, unless robots are kept apart by namespace.
TF = Topic(
    '/tf',
    _TF,
    'transform',
    when='robots without namespace',
    rate='odom_rate',
    switch=_SWITCHES,
    each_instant=True,
)
ROBOT_TF = replace(TF, name='{robot}/tf', when='robots with namespace, unless frame_prefix is set')
ODOM = Topic(
    '{robot}/odom',
    ('nav_msgs/msg/Odometry',),
    'sensor',
    when='floating base',
    rate='odom_rate',
    each_instant=True,
)
GROUND_TRUTH = Topic(
    '{robot}/ground_truth/pose',
    ('geometry_msgs/msg/PoseStamped',),
    'sensor',
    when='floating base',
    rate='odom_rate',
    switch='publish_ground_truth',
    each_instant=True,
)
FRAMES = (
    FrameRule('`odom_frame`', '`base_frame`', 'tf', 'floating base', 'publish_tf'),
    FrameRule('`base_frame`', '`footprint_frame`', 'tf', 'floating base', 'publish_footprint'),
    FrameRule('`map_frame`', '`odom_frame`', 'tf', '`odom_source` wheels', 'publish_map_to_odom'),
)
FEATURE = Feature(
    'odometry',
    OdometryParameters,
    group='What is published',
    topics=(TF, ROBOT_TF, ODOM, GROUND_TRUTH),
    frames=FRAMES,
    feeds=feeds,
)
