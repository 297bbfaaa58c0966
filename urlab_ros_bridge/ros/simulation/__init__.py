# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The standard services of simulators (simulation_interfaces), as one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rclpy.node import Node

from urlab_ros_bridge.ros.compat import InterfaceMissing
from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.services.base import Context
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.side_node import SideThread
from urlab_ros_bridge.ros.simulation import entities
from urlab_ros_bridge.ros.simulation import entity_state
from urlab_ros_bridge.ros.simulation import named_poses
from urlab_ros_bridge.ros.simulation import reset
from urlab_ros_bridge.ros.simulation import spawn
from urlab_ros_bridge.ros.simulation import spawnables
from urlab_ros_bridge.ros.simulation import state
from urlab_ros_bridge.ros.simulation import steps
from urlab_ros_bridge.ros.simulation import steps_action
from urlab_ros_bridge.ros.simulation import world
from urlab_ros_bridge.ros.simulation.base import answer
from urlab_ros_bridge.ros.simulation.base import Entry
from urlab_ros_bridge.ros.simulation.base import SimulationContext
from urlab_ros_bridge.ros.simulation.features import Feature

__all__ = ['ENTRIES', 'Entry', 'Feature', 'Simulation']

ENTRIES: tuple[Entry, ...] = (
    *world.ENTRIES,
    *state.ENTRIES,
    *reset.ENTRIES,
    *steps.ENTRIES,
    *steps_action.ENTRIES,
    *entities.ENTRIES,
    *entity_state.ENTRIES,
    *spawn.ENTRIES,
    *spawnables.ENTRIES,
    *named_poses.ENTRIES,
)


class Simulation:
    """
    Offers the table in a node and a thread of its own, so that nothing else waits for it.

    :ivar context: what the handlers work with.
    """

    def __init__(
        self,
        node: Node,
        bridge: Context,
        settings: Callable[[], Settings],
        log: Callable[[str, str], None],
    ) -> None:
        """Offer everything; without the package nothing, and the log says what to install."""
        self.context = SimulationContext(bridge, settings, ENTRIES)
        self._side: SideThread | None = None
        self._actions: list[steps_action.StepsAction] = []
        if not settings().simulation_interfaces:
            return
        try:
            types = [load_interface(row.type_name) for row in ENTRIES]
        except InterfaceMissing as error:
            log('warning', f'the services of simulation_interfaces are not offered: {error}')
            return
        self._side = SideThread(node, 'simulation')
        for row, kind in zip(ENTRIES, types, strict=True):
            if row.kind == 'action':
                self._actions.append(row.handler(self._side.node, self.context))
            else:
                handler = partial(answer, row, self.context)
                self._side.node.create_service(kind, row.name, handler)

    def start(self) -> None:
        """Start the thread."""
        if self._side is not None:
            self._side.start()

    def stop(self) -> None:
        """End what is under way, and the thread."""
        for action in self._actions:
            action.stop()
        if self._side is not None:
            self._side.stop()

    def destroy(self) -> None:
        """Withdraw the services."""
        if self._side is None:
            return
        # An action that is not withdrawn by itself keeps its node alive.
        for action in self._actions if not self._side.busy else ():
            action.destroy()
        self._side.destroy()
