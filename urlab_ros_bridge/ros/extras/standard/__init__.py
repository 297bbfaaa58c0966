# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The standard services of simulators (simulation_interfaces), as one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from urlab_ros_bridge.ros.extras.standard import entities
from urlab_ros_bridge.ros.extras.standard import named_poses
from urlab_ros_bridge.ros.extras.standard import resetting
from urlab_ros_bridge.ros.extras.standard import simulation_state
from urlab_ros_bridge.ros.extras.standard import simulator_info
from urlab_ros_bridge.ros.extras.standard import spawn
from urlab_ros_bridge.ros.extras.standard import steps
from urlab_ros_bridge.ros.extras.standard.base import answer
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.services.threads import ServiceThreads
from urlab_ros_bridge.schema import key

__all__ = ['ENTRIES', 'FEATURE', 'StandardFeature', 'StandardServices']

ENTRIES: tuple[Service, ...] = (
    *simulator_info.ENTRIES,
    *simulation_state.ENTRIES,
    *resetting.ENTRIES,
    *steps.ENTRIES,
    *entities.ENTRIES,
    *spawn.ENTRIES,
    *named_poses.ENTRIES,
)


@dataclass(frozen=True)
class SimulationParameters:
    """Whether the standard services are offered."""

    simulation_interfaces: bool = key(
        True,
        'Offer the standard services of simulators (package simulation_interfaces).',
    )


class StandardServices(Part):
    """
    Offers the table.

    :ivar context: what the handlers work with.
    """

    def __init__(self, bridge: Bridge) -> None:
        """Offer everything; without the package nothing, and the log says what to install."""
        rows = tuple(
            service
            for feature in bridge.features
            for service in feature.services
            if service.dialect == 'standard'
        )
        self.context = SimulationContext(bridge, rows)
        self._actions: list[steps.StepsAction] = []
        if not bridge.settings(SimulationParameters).simulation_interfaces:
            return
        threads = bridge.part(ServiceThreads)
        try:
            for row in rows:
                if row.kind == 'action':
                    self._actions.append(row.handler(bridge.node, self.context))
                else:
                    handler = partial(answer, row, self.context)
                    threads.offer(row, row.name, handler)
        except InterfaceMissing as error:
            bridge.log(
                'warning', f'the services of simulation_interfaces are not offered: {error}'
            )

    def stop(self) -> None:
        """End active goals."""
        for action in self._actions:
            action.stop()

    def destroy(self) -> None:
        """Withdraw the actions: one that is not withdrawn by itself keeps its node alive."""
        for action in self._actions:
            action.destroy()


FEATURE = Feature(
    'standard services',
    SimulationParameters,
    group='What is published',
    services=ENTRIES,
    attach=StandardServices,
)
