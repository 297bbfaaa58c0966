# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab up`: the processes of the table as children, with a line of live figures."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import os
import signal
import sys
import time

from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.commands import UP
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.errors import PortInUse
from urlab_ros_bridge.cli.parser import from_launch_style
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.cli.parser import split_ros_arguments
from urlab_ros_bridge.cli.poller import StatusPoller
from urlab_ros_bridge.cli.ports import can_bind
from urlab_ros_bridge.cli.ports import connect_address
from urlab_ros_bridge.cli.ports import port_holder
from urlab_ros_bridge.cli.processes import command_line
from urlab_ros_bridge.cli.processes import environment
from urlab_ros_bridge.cli.processes import is_installed
from urlab_ros_bridge.cli.processes import is_wanted
from urlab_ros_bridge.cli.processes import Process
from urlab_ros_bridge.cli.processes import PROCESSES
from urlab_ros_bridge.cli.status_line import Figures
from urlab_ros_bridge.cli.status_line import parse_figures
from urlab_ros_bridge.cli.status_line import Screen
from urlab_ros_bridge.cli.status_line import status_text
from urlab_ros_bridge.cli.supervisor import Supervisor

POLL_SECONDS = 0.1
PORT_NAMES = ('rpc_port', 'state_port', 'camera_port')


class Console:
    """Receives what the supervisor hears and shows it."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.bridge: Figures | None = None

    def figures(self, name: str, line: str) -> None:
        """Keep the newest figures of the bridge; a line that is none is ignored."""
        self.bridge = parse_figures(line, time.monotonic()) or self.bridge


def check_ports(values: Mapping[str, object]) -> None:
    """
    See that the server will get its ports, before anything starts.

    :raises BadArgument: when a port is 0: the bridge must know it.
    :raises PortInUse: when another program holds it.
    """
    address = str(values['bind'])
    for name in PORT_NAMES:
        port = int(values[name])
        flag = '--' + name.replace('_', '-')
        if port == 0:
            raise BadArgument(flag, 0, 'a port from 1 to 65535')
        if not can_bind(address, port):
            raise PortInUse(flag, port, address, port_holder(port))


def chosen_processes(
    values: Mapping[str, object], ros: Sequence[str], screen: Screen
) -> list[tuple[Process, list[str]]]:
    """Return the processes to run with their command lines; `ros` is for the bridge."""
    chosen = []
    for process in PROCESSES:
        if not is_wanted(process, values):
            continue
        if not is_installed(process):
            screen.say('up', f'{process.name} is left out: {process.executable} is not installed')
            continue
        command = command_line(process, values)
        if process.reports_status and ros:
            command += ['--ros-args', *ros]
        chosen.append((process, command))
    return chosen


def watch(supervisor: Supervisor, poller: StatusPoller, console: Console) -> None:
    """Pass on what the children say, and show the figures, until a signal comes."""
    try:
        while True:
            supervisor.poll(POLL_SECONDS)
            console.screen.show(status_text(poller.latest, console.bridge, time.monotonic()))
    except KeyboardInterrupt:
        console.screen.close()
        console.screen.say('up', 'stopping')
        raise


def run(values: Mapping[str, object], ros: Sequence[str]) -> None:
    """
    Run everything until a signal comes.

    :raises ChildDied: when a vital process ended by itself.
    """
    screen = Screen(sys.stdout)
    console = Console(screen)
    commands = chosen_processes(values, ros, screen)
    environ = {**os.environ, **environment()}
    poller = StatusPoller(connect_address(str(values['bind'])), int(values['rpc_port']))
    try:
        with Supervisor(
            commands, environ, screen.say, console.figures, bool(values['use_respawn'])
        ) as supervisor:
            supervisor.start()
            with poller:
                watch(supervisor, poller, console)
    finally:
        screen.close()


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab up` with the words after its name; return the exit code."""
    ours, ros = split_ros_arguments(from_launch_style(argv, UP_ARGUMENTS))
    values = vars(make_parser(UP).parse_args(ours))
    check_ports(values)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        run(values, ros)
    except KeyboardInterrupt:
        return 0
    except ChildDied as error:
        print(f'error: {error}', file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
