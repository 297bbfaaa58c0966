# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""urlab_msgs/SensorStamped: readings that have no standard message."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3
from std_msgs.msg import Header

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.client.replies.ops import Contacts
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength
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
