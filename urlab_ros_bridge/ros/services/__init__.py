# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The services of all features, in a node and a thread of their own.

They are answered one after the other, so that nothing else waits for a long request.
"""

from __future__ import annotations

from functools import partial

from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread
from urlab_ros_bridge.ros.services.base import answer
from urlab_ros_bridge.ros.services.context import ServiceContext


def attach(bridge: Bridge) -> Attached:
    """
    Offer all services of the bridge's own dialect.

    :raises InterfaceMissing: without urlab_msgs.
    """
    side, context = SideThread(bridge.node, 'services'), ServiceContext(bridge)
    for feature in bridge.features:
        for service in feature.services:
            if service.dialect == 'urlab':
                side.node.create_service(
                    load_interface(service.type_name),
                    service.name,
                    partial(answer, service, context),
                )
    return Attached(start=side.start, stop=side.stop, destroy=side.destroy)


FEATURE = Feature('services', attach=attach)

__all__ = ['FEATURE', 'attach']
