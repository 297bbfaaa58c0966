# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of `urlab up` and sim.launch.py."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.groups import Bind
from urlab_ros_bridge.cli.arguments.groups import BridgeParameters
from urlab_ros_bridge.cli.arguments.groups import ChiralGateway
from urlab_ros_bridge.cli.arguments.groups import ImportArguments
from urlab_ros_bridge.cli.arguments.groups import Interpreter
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import Namespace
from urlab_ros_bridge.cli.arguments.groups import Respawn
from urlab_ros_bridge.cli.arguments.groups import Ros2Control
from urlab_ros_bridge.cli.arguments.groups import Rviz
from urlab_ros_bridge.cli.arguments.groups import ServerPorts
from urlab_ros_bridge.cli.arguments.groups import Serving
from urlab_ros_bridge.cli.arguments.groups import SimSparkBeside
from urlab_ros_bridge.cli.arguments.groups import WebXrGateway
from urlab_ros_bridge.cli.arguments.groups import WorldArguments
from urlab_ros_bridge.schema import KeyProblem


@dataclass(frozen=True, kw_only=True)
class SimulationArguments(WorldArguments, ImportArguments, Bind, ServerPorts, Serving):
    """A server that other processes connect to."""

    def check(self) -> None:
        """Refuse port 0, because the other processes must know the ports."""
        for name in self.port_names():
            if not getattr(self, name):
                problem = 'must be a port from 1 to 65535, not 0 (any free port)'
                raise KeyProblem(name, f'{problem}: the other processes must know it')


@dataclass(frozen=True, kw_only=True)
class SuiteArguments(
    SimulationArguments,
    Namespace,
    BridgeParameters,
    Ros2Control,
    Rviz,
    Respawn,
    ChiralGateway,
    SimSparkBeside,
    WebXrGateway,
    Interpreter,
    LogLevel,
):
    """Server, bridge, controllers, RViz and gateways."""
