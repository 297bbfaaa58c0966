# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""urlab_msgs/SensorStamped: readings that have no standard message."""

from __future__ import annotations

from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.errors import WrongLength
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import SENSOR_STAMPED


class SensorStampedTemplate(RosMessageTemplate):
    """urlab_msgs/SensorStamped of one sensor.  Update it with its values, shape (dim,)."""

    def __init__(self, frame_id: str, name: str, typename: str, unit: str, dim: int) -> None:
        """
        Fix the layout.

        :param frame_id: frame of the sensor, empty when it has none.
        :param name: local sensor name.
        :param typename: MuJoCo sensor type as in MJCF.
        :param unit: SI unit of each element, ``'1'`` without dimension, empty when not known.
        :raises InterfaceMissing: without urlab_msgs.
        """
        super().__init__(
            load_interface(SENSOR_STAMPED)(
                header=Header(frame_id=frame_id),
                name=name,
                type=typename,
                unit=unit,
                data=[0.0] * dim,
            )
        )
        self._dim = dim
        self._data = self._template.array('data')

    def update(self, stamp_ns: int, values: Values) -> bytes:
        if len(values) != self._dim:
            raise WrongLength(self._dim, len(values))
        self._data[...] = values
        return self._stamped(stamp_ns)
