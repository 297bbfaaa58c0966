# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab up`: the processes of the table as children, with a line of live figures."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
import os
import sys
import time

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.cli.processes.preflight import check_keys
from urlab_ros_bridge.cli.processes.preflight import check_packages
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.supervisor import ProcessSupervisor
from urlab_ros_bridge.cli.processes.table import command_line
from urlab_ros_bridge.cli.processes.table import environment
from urlab_ros_bridge.cli.processes.table import is_installed
from urlab_ros_bridge.cli.processes.table import is_wanted
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.cli.signals import ignore_interrupt
from urlab_ros_bridge.cli.signals import raise_on_stop_signals
from urlab_ros_bridge.cli.status.line import Figures
from urlab_ros_bridge.cli.status.line import parse_figures
from urlab_ros_bridge.cli.status.line import Screen
from urlab_ros_bridge.cli.status.line import status_text
from urlab_ros_bridge.cli.status.poller import StatusPoller

POLL_SECONDS = 0.1


class Console:
    """Shows what the supervisor passes on."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.bridge: Figures | None = None

    def figures(self, name: str, line: str) -> None:
        """Keep the newest figures of the bridge; a line that is none is ignored."""
        self.bridge = parse_figures(line, time.monotonic()) or self.bridge


def chosen_processes(
    values: Mapping[str, object], ros: Sequence[str], screen: Screen
) -> list[tuple[Process, list[str]]]:
    """Return the processes to run with their command lines; `ros` is for the bridge."""
    chosen = []
    for process in PROCESSES:
        if not is_wanted(process, values):
            continue
        if not is_installed(process):
            screen.write_line(
                'up', f'{process.name} is not started: {process.executable} is not installed'
            )
            continue
        command = command_line(process, values)
        if process.reports_status and ros:
            command += ['--ros-args', *ros]
        chosen.append((process, command))
    return chosen


def watch(supervisor: ProcessSupervisor, poller: StatusPoller, console: Console) -> None:
    """Pass on the output of the children, and show the figures, until a signal comes."""
    try:
        while True:
            supervisor.poll(POLL_SECONDS)
            console.screen.show(status_text(poller.latest, console.bridge, time.monotonic()))
    except KeyboardInterrupt:
        console.screen.close()
        console.screen.write_line('up', 'stopping')
        raise


def run_until_signal(given: ParsedArguments[SuiteArguments]) -> None:
    """
    Run everything until a signal comes.

    :raises ChildDied: when a vital process ended by itself.
    """
    values = given.values
    screen = Screen(sys.stdout)
    console = Console(screen)
    commands = chosen_processes(asdict(values), given.ros, screen)
    check_packages(process for process, _ in commands)
    check_keys(values.keys)
    check_ports(values, values.bind)
    if values.webxr:
        screen.write_line(
            'up', f'open http://127.0.0.1:{values.moved("webxr_port")} to watch and drive'
        )
    environ = {**os.environ, **environment()}
    poller = StatusPoller(connect_address(values.bind), values.moved('rpc_port'), values.keys)
    try:
        with ProcessSupervisor(
            commands, environ, screen.write_line, console.figures, values.use_respawn
        ) as supervisor:
            supervisor.start()
            with poller:
                watch(supervisor, poller, console)
    finally:
        screen.close()


def run(given: ParsedArguments[SuiteArguments]) -> int:
    """Run everything until a signal comes; return 1 when a vital process ended by itself."""
    raise_on_stop_signals()
    try:
        run_until_signal(given)
    except KeyboardInterrupt:
        ignore_interrupt()
    except ChildDied as error:
        print(f'error: {error}', file=sys.stderr, flush=True)
        return 1
    return 0


COMMAND = Command(
    name='up',
    summary='Run the step server and the ROS 2 bridge together.',
    text='Run the step server and the ROS 2 bridge together, with a live status line below\n'
    'their messages. Ctrl-C stops everything, a second Ctrl-C immediately.',
    section=SuiteArguments,
    run=run,
    takes_ros_args=True,
    handles_signals=True,
    examples=(
        ('urlab up', 'the rover world in ROS 2'),
        ('urlab up --world quadruped --rviz', 'another world, with RViz'),
        ('urlab up --model my_robot.xml --use-respawn', 'your own MJCF, restarted when it dies'),
        (
            'urlab up --model my_robot.urdf.xacro --xacro-arg gripper:=true',
            'a robot from its xacro',
        ),
        ('urlab up --webxr', 'also watch and control it in a browser'),
        ('urlab up --port-offset 10', 'a second simulation on this machine'),
    ),
)
