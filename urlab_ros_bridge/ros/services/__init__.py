# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The services of all features, in the node of the bridge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.services.base import answer
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.ros.services.threads import ServiceThreads
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class ServiceParameters:
    """Under which names services are offered."""

    root_services: bool = key(
        True,
        "Offer the bridge's own services also without the name of the node: /reset beside "
        '/urlab_bridge/reset. The standard services of simulators are never below it.',
    )


def attach(bridge: Bridge) -> Part:
    """
    Offer all services of the bridge's own dialect.

    :raises InterfaceMissing: without urlab_msgs.
    """
    threads = bridge.add(ServiceThreads(bridge))
    context = ServiceContext(bridge)
    prefixes = ('~/', '') if bridge.settings(ServiceParameters).root_services else ('~/',)
    for feature in bridge.features:
        for service in feature.services:
            if service.dialect == 'urlab':
                handler = partial(answer, service, context)
                for prefix in prefixes:
                    threads.offer(service, prefix + service.name, handler)
    return threads


FEATURE = Feature('services', ServiceParameters, group='Names', attach=attach)

__all__ = ['FEATURE', 'attach']
