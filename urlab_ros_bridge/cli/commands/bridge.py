# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab bridge`: run the ROS node; our options become ROS parameters."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import BRIDGE_FILE
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import Namespace
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import StatePort
from urlab_ros_bridge.cli.logs import ros_level
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.schema import key

_PORTS = ('rpc_port', 'state_port')


@dataclass(frozen=True, kw_only=True)
class OwnParameters(Arguments):
    """ROS nodes."""

    params_file: str = key(
        '',
        'YAML file with the parameters of the bridge.',
        **BRIDGE_FILE,
    )


@dataclass(frozen=True, kw_only=True)
class BridgeArguments(
    HostArguments, RpcPort, StatePort, PortOffset, Namespace, OwnParameters, LogLevel
):
    """The arguments of `urlab bridge`; the camera port comes from the server."""

    lifecycle: bool = key(
        False,
        'Run as a managed node (urlab_bridge_lifecycle), which has to be configured and '
        'activated.',
    )
    status_fd: int | None = key(
        None, 'File descriptor that gets one JSON line of figures a second.', hidden=True, low=0
    )


def node_arguments(given: ParsedArguments[BridgeArguments]) -> list[str]:
    """
    Return the argv of the ROS node.

    In ROS the last argument wins.  The order is: our parameter file, the ROS arguments (with the
    parameter file of launch), our other options.  Only given options are passed on: a default must
    not override the parameter file, and ROS silently ignores a ``-p`` whose type differs from that
    in a file.
    """
    values = given.values
    words = ['--ros-args']
    ours: list[str] = []
    if 'params_file' in given.names:
        words += ['--params-file', values.params_file]
    if 'host' in given.names:
        # Launch passes the address of --bind, which may be a wildcard.
        ours += ['-p', f'host:={connect_address(values.host)}']
    if values.keys:
        ours += ['-p', f'keys:={values.keys}']
    for name in _PORTS:
        if name in given.names or values.port_offset:
            ours += ['-p', f'{name}:={values.moved(name)}']
    if values.namespace.strip('/'):
        ours += ['-r', f'__ns:=/{values.namespace.strip("/")}']
    if 'log_level' in given.names:
        ours += ['--log-level', ros_level(values.log_level)]
    status = [] if values.status_fd is None else [f'--status-fd={values.status_fd}']
    status += ['--lifecycle'] if values.lifecycle else []
    return [*status, *words, *given.ros, *ours]


def run(given: ParsedArguments[BridgeArguments]) -> int:
    """
    Run the node until a signal comes.

    :raises RosNotFound: when ROS or an interface package is missing.
    """
    require('bridge')
    from urlab_ros_bridge.ros.program.main import main as ros_main

    return ros_main(node_arguments(given))


COMMAND = Command(
    name='bridge',
    summary='Publish a running simulation in ROS 2.',
    text='Connect a running simulation to ROS 2: publish its state as topics and transforms, and\n'
    'accept commands and service calls. Reconnects automatically when the server restarts.',
    section=BridgeArguments,
    run=run,
    takes_ros_args=True,
    handles_signals=True,
    examples=(
        ('urlab bridge', 'the server on this machine'),
        ('urlab bridge --host 192.168.1.20', 'a server on another machine'),
        ('urlab bridge --namespace sim --ros-args -p clock_rate:=50.0', 'with ROS arguments'),
    ),
)
