# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameter that declares the QoS overrides of all topics."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.rclpy_tools.qos import DECLARE_ALL
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class QualityOfServiceParameters:
    """Declaration of QoS overrides that are not set."""

    declare_qos_overrides: bool = key(
        False,
        'Declare the qos_overrides parameters of all topics, so that `ros2 param list` shows '
        'them. Those set at start-up take effect in any case.',
        name=DECLARE_ALL,
    )


FEATURE = Feature('quality of service', QualityOfServiceParameters, group='What is published')
