# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab view`: show a running simulation in MuJoCo's own viewer."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import StatePort
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.cli.status import Screen

CLIENT_NAME = 'urlab view'


@dataclass(frozen=True, kw_only=True)
class ViewArguments(HostArguments, RpcPort, StatePort, PortOffset, LogLevel):
    """The arguments of `urlab view`."""


def run(given: ParsedArguments[ViewArguments]) -> int:
    """
    Show simulations until the user closes the window.

    :raises UrlabError: without a display or MuJoCo, or when the server offers no usable model.
    """
    values = given.values
    set_up_logging(values.log_level)
    require('view')
    from urlab_ros_bridge.client.client import Client
    from urlab_ros_bridge.viewer.viewer import Viewer
    from urlab_ros_bridge.viewer.window import require_display

    require_display()
    client = Client(
        connect_address(values.host),
        values.moved('rpc_port'),
        state_port=values.moved('state_port'),
        name=CLIENT_NAME,
        keys=values.keys,
        raise_on_divergence=False,
    )
    screen = Screen()
    try:
        Viewer(client, lambda event: screen.write_line('view', event), screen.show).run()
    finally:
        screen.close()
    return 0


COMMAND = Command(
    name='view',
    summary="Show a running simulation in MuJoCo's own viewer.",
    text="Show the simulation of a running server in MuJoCo's own viewer, and act on it, for all\n"
    'clients: space pauses or resumes, the right arrow takes one step while paused or in direct\n'
    'mode, backspace resets the world, as everywhere in MuJoCo (on the page of `urlab webxr` it\n'
    'is the e-stop). A double click selects a body; Ctrl and the right mouse button pull it,\n'
    'Ctrl and the left one turn it. F1 lists the other keys of the viewer.\n'
    'Needs a display, but no ROS. When the server ends, it waits for the next one. Works with\n'
    'any URLab server that runs the MuJoCo version installed here; on a server with a single\n'
    'session, such as the Unreal plugin, it takes that session.',
    section=ViewArguments,
    run=run,
    examples=(
        ('urlab view', 'beside `urlab up`, in a second terminal'),
        ('urlab view --host 192.168.1.20', 'a simulation on another machine'),
        ('urlab view --port-offset 10', 'the second simulation on this machine'),
    ),
)
