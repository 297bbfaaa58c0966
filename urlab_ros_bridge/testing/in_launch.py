# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A simulation in a launch description, for tests with `launch_testing`.

    from urlab_ros_bridge.testing import launch_simulation

    def generate_test_description():
        simulation, actions = launch_simulation('rover', then=[my_node, ReadyToTest()])
        return LaunchDescription(actions), {'simulation': simulation}

Server and bridge belong to one process (`run_simulation`), which tells on which ports they are.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
import json
import sys
from typing import Any
from typing import TYPE_CHECKING

from launch import Action
from launch.actions import ExecuteProcess
from launch.actions import RegisterEventHandler
from launch.actions import SetEnvironmentVariable
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO

from urlab_ros_bridge.lifeline import tied
from urlab_ros_bridge.testing.domains import take_domain
from urlab_ros_bridge.testing.errors import SimulationFailed
from urlab_ros_bridge.testing.run_simulation import READY
from urlab_ros_bridge.testing.simulation import SimulationAccess

if TYPE_CHECKING:
    from urlab_ros_bridge.client.client import Client

PROGRAM = 'urlab_ros_bridge.testing.run_simulation'
NAME = 'simulation'


class LaunchedSimulation(SimulationAccess):
    """
    The proxy that active tests get: known when the simulation is ready, so before they begin.

    It keeps its ROS domain until this process ends, for nodes of the description may outlive it.
    """

    def __init__(self, with_ros: bool) -> None:
        self._taken = take_domain() if with_ros else None
        super().__init__({}, self._taken.number if self._taken else None)
        # A node that is still spun when Python ends would abort the process.
        atexit.register(self.close)

    @property
    def client(self) -> Client:
        """
        Return a typed client with a shared session, connected at the first use.

        :raises SimulationFailed: before the simulation is ready.
        """
        if not self.ports:
            raise SimulationFailed(NAME, 'is not ready yet', '')
        return super().client


class _WhenReady(RegisterEventHandler):
    """Shows what it starts, so that launch_testing finds `ReadyToTest` in the description."""

    def __init__(self, handler: OnProcessIO, then: Sequence[Action]) -> None:
        super().__init__(handler)
        self._then = list(then)

    def describe_conditional_sub_entities(self) -> list[tuple[str, list[Action]]]:
        return [('when the simulation is ready', self._then)]


def launch_simulation(
    world: str = 'rover', *, then: Sequence[Action] = (), **arguments: Any
) -> tuple[LaunchedSimulation, list[Action]]:
    """
    Return the proxy of a simulation, and the actions that start it.

    Everything that the description starts after these actions is in the simulation's ROS domain.

    :param world: as for `Simulation`.
    :param then: started when the simulation is ready: your nodes, and `ReadyToTest()`.
    :param arguments: as for `Simulation`, values that JSON knows.
    """
    proxy = LaunchedSimulation(arguments.get('bridge', {}) is not None)
    given = json.dumps({'world': str(world), 'domain': proxy.domain, **arguments})
    program = ExecuteProcess(
        cmd=tied([sys.executable, '-u', '-m', PROGRAM, given]), name=NAME, output='screen'
    )
    waiting, tail = list(then), b''

    def on_output(event: ProcessIO) -> list[Action] | None:
        nonlocal tail
        tail += event.text  # a line may come in pieces
        lines = tail.split(b'\n')
        tail = lines.pop()
        for line in lines:
            if line.startswith(READY.encode()):
                proxy.ports = json.loads(line[len(READY) :])
                started = waiting.copy()
                waiting.clear()
                return started
        return None

    domain = [SetEnvironmentVariable('ROS_DOMAIN_ID', str(proxy.domain))] if proxy.domain else []
    # The handler stands before the program, so that no line is missed.
    handler = _WhenReady(OnProcessIO(target_action=program, on_stdout=on_output), then)
    return proxy, [*domain, handler, program]


__all__ = ['LaunchedSimulation', 'launch_simulation']
