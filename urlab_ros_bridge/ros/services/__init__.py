# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The services of the bridge, as one table."""

from __future__ import annotations

from functools import partial

from rclpy.node import Node

from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.services import bags
from urlab_ros_bridge.ros.services import lockstep
from urlab_ros_bridge.ros.services import model
from urlab_ros_bridge.ros.services import poses
from urlab_ros_bridge.ros.services import recording
from urlab_ros_bridge.ros.services import safety
from urlab_ros_bridge.ros.services import simulation
from urlab_ros_bridge.ros.services.base import answer
from urlab_ros_bridge.ros.services.base import Context
from urlab_ros_bridge.ros.services.base import Service

__all__ = ['SERVICES', 'Context', 'Service', 'answer', 'create_services']

SERVICES: tuple[Service, ...] = (
    *simulation.SERVICES,
    *lockstep.SERVICES,
    *safety.SERVICES,
    *poses.SERVICES,
    *model.SERVICES,
    *recording.SERVICES,
    *bags.SERVICES,
)


def create_services(node: Node, context: Context) -> None:
    """
    Offer all services.

    :raises InterfaceMissing: without urlab_msgs.
    """
    for service in SERVICES:
        node.create_service(
            load_interface(service.type_name), service.name, partial(answer, service, context)
        )
