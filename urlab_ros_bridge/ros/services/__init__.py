# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The services of all features, in nodes and threads of their own.

They are answered one after the other, so that nothing else waits for a long request, and nor do
those that are urgent.  Those that wait until the world is read keep no others waiting.
"""

from __future__ import annotations

from functools import partial

from urlab_ros_bridge.ros.features.declarations import Waits
from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread
from urlab_ros_bridge.ros.services.base import answer
from urlab_ros_bridge.ros.services.base import ServiceThread
from urlab_ros_bridge.ros.services.context import ServiceContext


def attach(bridge: Bridge) -> Attached:
    """
    Offer all services of the bridge's own dialect.

    :raises InterfaceMissing: without urlab_msgs.
    """
    context = ServiceContext(bridge)
    ordinary, urgent = ServiceThread(bridge, 'services'), SideThread(bridge.node, 'safety')
    context.requests = ordinary.held
    sides = (ordinary.side, urgent)
    for feature in bridge.features:
        for service in feature.services:
            if service.dialect == 'urlab':
                kind = load_interface(service.type_name)
                handler = partial(answer, service, context)
                if service.waits is Waits.FOR_NOTHING:
                    urgent.node.create_service(kind, service.name, handler)
                else:
                    ordinary.offer(service, kind, handler)

    def start() -> None:
        for side in sides:
            side.start()

    def stop() -> None:
        ordinary.stop()
        urgent.stop()

    def destroy() -> None:
        for side in sides:
            side.destroy()

    return Attached(start=start, stop=stop, destroy=destroy)


FEATURE = Feature('services', attach=attach)

__all__ = ['FEATURE', 'attach']
