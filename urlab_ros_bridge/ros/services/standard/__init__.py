# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The standard services of simulators (simulation_interfaces), as one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.services.base import ServiceThread
from urlab_ros_bridge.ros.services.standard import entities
from urlab_ros_bridge.ros.services.standard import named_poses
from urlab_ros_bridge.ros.services.standard import simulation_state
from urlab_ros_bridge.ros.services.standard import spawn
from urlab_ros_bridge.ros.services.standard import steps
from urlab_ros_bridge.ros.services.standard import world
from urlab_ros_bridge.ros.services.standard.base import answer
from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.features import StandardFeature
from urlab_ros_bridge.schema import key

__all__ = ['ENTRIES', 'FEATURE', 'StandardFeature', 'StandardServices']

ENTRIES: tuple[Service, ...] = (
    *world.ENTRIES,
    *simulation_state.ENTRIES,
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


class StandardServices:
    """
    Offers the table in a node and its own thread, so that nothing else waits for it.

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
        self._thread: ServiceThread | None = None
        self._actions: list[steps.StepsAction] = []
        if not bridge.settings().simulation_interfaces:
            return
        try:
            types = [load_interface(row.type_name) for row in rows]
        except InterfaceMissing as error:
            bridge.log(
                'warning', f'the services of simulation_interfaces are not offered: {error}'
            )
            return
        self._thread = ServiceThread(bridge, 'simulation')
        self.context.requests = self._thread.held
        for row, kind in zip(rows, types, strict=True):
            if row.kind == 'action':
                self._actions.append(row.handler(self._thread.side.node, self.context))
            else:
                self._thread.offer(row, kind, partial(answer, row, self.context))

    def start(self) -> None:
        """Start the thread."""
        if self._thread is not None:
            self._thread.side.start()

    def stop(self) -> None:
        """End what is under way, and the thread."""
        for action in self._actions:
            action.stop()
        if self._thread is not None:
            self._thread.stop()

    def destroy(self) -> None:
        """Withdraw the services."""
        if self._thread is None:
            return
        side = self._thread.side
        # An action that is not withdrawn by itself keeps its node alive.
        for action in self._actions if not side.busy else ():
            action.destroy()
        side.destroy()


def attach(bridge: Bridge) -> Attached:
    """Offer the standard services."""
    simulation = bridge.add(StandardServices(bridge))
    return Attached(start=simulation.start, stop=simulation.stop, destroy=simulation.destroy)


FEATURE = Feature(
    'standard services',
    SimulationParameters,
    group='What is published',
    services=ENTRIES,
    attach=attach,
)
