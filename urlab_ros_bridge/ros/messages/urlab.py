# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""urlab_msgs/SensorStamped: readings that have no standard message."""

from __future__ import annotations

import array
from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3
import numpy as np

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.client.replies.ops import Contacts
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import SENSOR_STAMPED
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


class SensorStampedTemplate(RosMessageTemplate):
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


CONTACTS = 'urlab_msgs/msg/Contacts'


def contact_to_ros(contact: Contact) -> Any:
    """
    Return a urlab_msgs/Contact; force and torque stay in the frame of the contact.

    :raises InterfaceMissing: without urlab_msgs.
    """
    message = load_interface('urlab_msgs/msg/Contact')(
        geom1=contact.geom1,
        geom2=contact.geom2,
        body1=contact.body1,
        body2=contact.body2,
        distance=contact.dist,
    )
    message.position = Point(**dict(zip('xyz', contact.pos.tolist(), strict=True)))
    message.normal = Vector3(**dict(zip('xyz', contact.normal.tolist(), strict=True)))
    force = contact.force.tolist()
    message.wrench.force = Vector3(**dict(zip('xyz', force[:3], strict=True)))
    message.wrench.torque = Vector3(**dict(zip('xyz', force[3:], strict=True)))
    return message


def contacts_to_ros(stamp_ns: int, frame_id: str, found: Contacts) -> Any:
    """
    Return a urlab_msgs/Contacts.

    :param frame_id: frame of the world.
    :raises InterfaceMissing: without urlab_msgs.
    """
    return load_interface(CONTACTS)(
        header=header_to_ros(stamp_ns, frame_id),
        contacts=[contact_to_ros(each) for each in found.contacts],
        truncated=found.truncated,
    )
