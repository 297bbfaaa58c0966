# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Quality of service of every topic (REP-2003, and what large images and Nav2 need).

Sensor data is published reliably: that is compatible with reliable and best-effort subscribers
alike.  Every profile can be changed with ``qos_overrides.<topic>.publisher.*`` parameters.  They
are three for each topic, so they are declared where one is set, or all are requested.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import HistoryPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

from urlab_ros_bridge.ros.rclpy_tools.overrides import given_overrides

Profile = Callable[[], QoSProfile]

# The parameter that asks for the overrides of all topics.
DECLARE_ALL = 'declare_qos_overrides'


def _profile(
    depth: int,
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


def clock() -> QoSProfile:
    """/clock: the newest; reliable as that of ros_gz_bridge, for subscribers of both kinds."""
    return _profile(1)


def sensor() -> QoSProfile:
    """Joint states, odometry, IMU, scans, poses."""
    return _profile(10)


def image() -> QoSProfile:
    """Images and point clouds: a few, because each is large."""
    return _profile(5)


def transform() -> QoSProfile:
    """/tf."""
    return _profile(100)


def latched() -> QoSProfile:
    """/tf_static: late subscribers get the last message."""
    return _profile(1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def command() -> QoSProfile:
    """Subscriptions for commands: messages for different joints or bodies must not be lost."""
    return _profile(100)


def report() -> QoSProfile:
    """/diagnostics and statistics."""
    return _profile(10)


def overridable(node: Node, topic: str) -> QoSOverridingOptions | None:
    """Return the option that declares the ``qos_overrides`` of a topic, None without need."""
    if _asks_for_all(node) or _overrides(node, node.resolve_topic_name(topic)):
        return QoSOverridingOptions.with_default_policies()
    return None


def _asks_for_all(node: Node) -> bool:
    return node.has_parameter(DECLARE_ALL) and bool(node.get_parameter(DECLARE_ALL).value)


def _overrides(node: Node, topic: str) -> bool:
    """Return whether an override of a topic was set at the start."""
    prefix = f'qos_overrides.{topic}.'
    return any(name.startswith(prefix) for name in given_overrides(node))
