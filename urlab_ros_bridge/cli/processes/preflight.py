# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks before anything starts: free ports, installed packages, keys."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import os
from pathlib import Path
import time

from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.errors import PortInUse
from urlab_ros_bridge.cli.errors import PythonUnusable
from urlab_ros_bridge.cli.errors import RosPackageMissing
from urlab_ros_bridge.cli.packages import missing_error
from urlab_ros_bridge.cli.packages import NEEDS
from urlab_ros_bridge.cli.processes.ports import can_bind
from urlab_ros_bridge.cli.processes.ports import commands_of_holders
from urlab_ros_bridge.cli.processes.ports import port_holder
from urlab_ros_bridge.cli.processes.table import missing_ros_packages
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.cli.processes.table import python_for
from urlab_ros_bridge.interpreters import CORE
from urlab_ros_bridge.interpreters import missing_in
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.keys import read_server_keys

# The server runs without a side stream whose port is taken.
VITAL_PORTS = ('rpc_port', 'state_port', 'camera_port')
RENDERER = 'urlab_ros_bridge.sim.cameras.renderer.worker'
LEFT_SECONDS = 15.0
UNSEEN_SECONDS = 2.0
_STEP = 10
_TRIED_OFFSETS = 100


def check_ports(values: PortOffset, address: str, spelling: Spelling = Spelling.OPTION) -> None:
    """
    Check that the ports of the server are free.

    :raises PortInUse: when one is not; the message has an offset with which all are free.
    """
    for name in vital_ports(values):
        port = values.moved(name)
        if port and not is_or_becomes_free(address, port):
            remedy = spelling.with_value('port_offset', free_offset(values, address))
            raise PortInUse(spelling.named(name), port, address, port_holder(port), remedy)


def check_keys(folder: str) -> None:
    """
    Check that server and clients can use their keys; an empty folder means no keys.

    :raises KeysUnusable: when a key is missing, damaged, or readable by others.
    """
    if folder:
        read_server_keys(Path(folder))
        read_client_keys(folder)


def is_or_becomes_free(address: str, port: int) -> bool:
    """
    Return whether a server can listen on a port.

    The renderer of a killed server may hold the port for a moment: wait for its end.  A holder
    that is not visible may be ending, or belong to another user.
    """
    began = time.monotonic()
    while not can_bind(address, port):
        commands = commands_of_holders(port)
        if not all(RENDERER in command.split() for command in commands if command):
            return can_bind(address, port)  # it may have ended in the meantime
        patience = LEFT_SECONDS if commands else UNSEEN_SECONDS
        if time.monotonic() - began > patience:
            return False
        time.sleep(0.05)
    return True


def vital_ports(values: PortOffset) -> list[str]:
    """Return the names of the required ports, including those of enabled gateways."""
    vital = set(VITAL_PORTS)
    for process in PROCESSES:
        if process.is_gateway and getattr(values, process.only_if, False):
            vital |= {name for _, name in process.options if name.endswith('_port')}
    return [name for name in values.port_names() if name in vital]


def free_offset(values: PortOffset, address: str) -> int:
    """Return the next multiple of ten that, as an offset, makes all ports free."""
    ports = [port for name in values.port_names() if (port := getattr(values, name))]
    first = values.port_offset // _STEP * _STEP + _STEP
    for offset in range(first, first + _STEP * _TRIED_OFFSETS, _STEP):
        moved = [port + offset for port in ports]
        if max(moved) <= LAST_PORT and all(can_bind(address, port) for port in moved):
            return offset
    return first


def check_ros_packages(
    processes: Iterable[Process], environ: Mapping[str, str] = os.environ
) -> None:
    """
    Check that the ROS packages that processes cannot do without are installed.

    :raises RosPackageMissing: when one is missing, with what to do.
    """
    for process in processes:
        if missing := missing_ros_packages(process, environ):
            raise RosPackageMissing(process.name, missing, environ.get('ROS_DISTRO', ''))


def check_packages(
    processes: Iterable[Process],
    values: Mapping[str, object],
    spelling: Spelling = Spelling.OPTION,
) -> None:
    """
    Check that the Python packages of the processes are installed.

    :raises CliError: when one is missing; the message says how to install it.
    """
    for process in processes:
        if not process.command:
            continue
        needs = NEEDS[process.command]
        python = python_for(process, values)
        if python == values['python']:
            if missing := missing_in(python, (*CORE, *needs.modules)):
                raise PythonUnusable(spelling.named('python'), python, missing, process.name)
        elif missing := needs.missing():
            raise missing_error(missing, needs.extra)
