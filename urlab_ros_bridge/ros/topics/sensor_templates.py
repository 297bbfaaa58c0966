# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The message template of one sensor."""

from __future__ import annotations

import math

from urlab_ros_bridge.ros.messages.base import MessageTemplate
from urlab_ros_bridge.ros.messages.geometry import PointStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import QuaternionStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import Vector3StampedTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.laser import RangeTemplate
from urlab_ros_bridge.ros.messages.urlab import SensorStampedTemplate
from urlab_ros_bridge.ros.plan.sensor_table import MAGNETIC_FIELD
from urlab_ros_bridge.ros.plan.sensor_table import POINT
from urlab_ros_bridge.ros.plan.sensor_table import QUATERNION
from urlab_ros_bridge.ros.plan.sensor_table import RANGE
from urlab_ros_bridge.ros.plan.sensor_table import VECTOR3
from urlab_ros_bridge.ros.plan.sensors import Sensor


def single_template(sensor: Sensor, magnetic_field_stddev: float = 0.0) -> MessageTemplate:
    """
    Make the template of a sensor that has a message of its own.

    Feed it with ``update(stamp_ns, sensor.kind.reading(values))``.

    :param magnetic_field_stddev: tesla, for magnetometers.
    :raises InterfaceMissing: without urlab_msgs, for a sensor without a standard message.
    """
    simple = {
        VECTOR3: Vector3StampedTemplate,
        POINT: PointStampedTemplate,
        QUATERNION: QuaternionStampedTemplate,
    }
    message = sensor.kind.message
    if message in simple:
        return simple[message](sensor.frame_id)
    if message == MAGNETIC_FIELD:
        return MagneticFieldTemplate(sensor.frame_id, magnetic_field_stddev)
    if message == RANGE:
        return RangeTemplate(sensor.frame_id, max_range=sensor.cutoff or math.inf)
    return SensorStampedTemplate(
        sensor.frame_id, sensor.name, sensor.kind.name, sensor.unit, sensor.dim
    )


__all__ = ['single_template']
