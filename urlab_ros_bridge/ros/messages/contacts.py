# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""urlab_msgs/Contacts: the contacts of one instant."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.client.replies.ops import Contacts
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

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
