# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""urlab_msgs/SensorStamped: readings that have no standard message."""

from __future__ import annotations

import array
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.compat import SENSOR_STAMPED
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import Values
from urlab_ros_bridge.ros.convert.errors import WrongLength
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def sensor_to_ros(
    stamp_ns: int, frame_id: str, name: str, typename: str, unit: str, values: Values
) -> Any:
    """
    Return a reading.

    :param frame_id: frame of the sensor, empty when it has none.
    :param name: local sensor name.
    :param typename: MuJoCo sensor type as in MJCF.
    :param unit: SI unit of every element, ``'1'`` without dimension, empty when not known.
    :param values: shape (dim,).
    :raises InterfaceMissing: without urlab_msgs.
    """
    data = array.array('d', np.asarray(values, np.float64).tobytes())
    return load_interface(SENSOR_STAMPED)(
        header=header_to_ros(stamp_ns, frame_id), name=name, type=typename, unit=unit, data=data
    )


class SensorStampedTemplate(MessageTemplate):
    """urlab_msgs/SensorStamped of one sensor."""

    def __init__(self, frame_id: str, name: str, typename: str, unit: str, dim: int) -> None:
        """
        Fix the layout.

        :raises InterfaceMissing: without urlab_msgs.
        """
        self._static = (frame_id, name, typename, unit)
        self._dim = dim
        super().__init__(self.message(0, [0.0] * dim))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._data = template.array('data')

    def message(self, stamp_ns: int, values: Values) -> Any:
        if len(values) != self._dim:
            raise WrongLength(self._dim, len(values))
        return sensor_to_ros(stamp_ns, *self._static, values)

    def update(self, stamp_ns: int, values: Values) -> bytes:
        if len(values) != self._dim:
            raise WrongLength(self._dim, len(values))
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._data[...] = values
        return self._to_bytes()
