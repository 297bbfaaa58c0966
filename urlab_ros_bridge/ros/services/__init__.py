# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The services of all features, in nodes and threads of their own.

They are answered one after the other, so that nothing else waits for a long request, and nor do
those that are urgent.  Those that wait until the world is read keep no others waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread
from urlab_ros_bridge.ros.services.base import answer
from urlab_ros_bridge.ros.services.base import hold_while_reading
from urlab_ros_bridge.ros.services.context import ServiceContext

# By `Service.urgent`; a node with an executor each.
_THREADS = {False: 'services', True: 'safety'}


def attach(bridge: Bridge) -> Attached:
    """
    Offer all services of the bridge's own dialect.

    :raises InterfaceMissing: without urlab_msgs.
    """
    context = ServiceContext(bridge)
    sides = {urgent: SideThread(bridge.node, name) for urgent, name in _THREADS.items()}
    held = hold_while_reading(bridge, sides[False])
    for feature in bridge.features:
        for service in feature.services:
            if service.dialect == 'urlab':
                offers = held if service.needs_world else sides[service.urgent].node
                offers.create_service(
                    load_interface(service.type_name),
                    service.name,
                    partial(answer, service, context),
                )

    def each(action: Callable[[SideThread], None]) -> None:
        for side in sides.values():
            action(side)

    def stop() -> None:
        held.close()
        each(SideThread.stop)

    return Attached(
        start=partial(each, SideThread.start),
        stop=stop,
        destroy=partial(each, SideThread.destroy),
    )


FEATURE = Feature('services', attach=attach)

__all__ = ['FEATURE', 'attach']
