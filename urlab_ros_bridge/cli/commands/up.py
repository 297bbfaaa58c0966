# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab up`: run the processes of the table, with a status line below their output."""

from __future__ import annotations

import asyncio
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
from urlab_ros_bridge.cli.processes.preflight import check_ros_packages
from urlab_ros_bridge.cli.processes.supervisor import lines_of
from urlab_ros_bridge.cli.processes.supervisor import ProcessSupervisor
from urlab_ros_bridge.cli.processes.table import command_line
from urlab_ros_bridge.cli.processes.table import environment
from urlab_ros_bridge.cli.processes.table import is_installed
from urlab_ros_bridge.cli.processes.table import is_wanted
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.cli.signals import ignore_interrupt
from urlab_ros_bridge.cli.signals import stop_signals
from urlab_ros_bridge.cli.status import Figures
from urlab_ros_bridge.cli.status import parse_figures
from urlab_ros_bridge.cli.status import Screen
from urlab_ros_bridge.cli.status import status_text
from urlab_ros_bridge.cli.status import StatusPoller

REDRAW_SECONDS = 0.25


def chosen_processes(
    values: Mapping[str, object], ros: Sequence[str], status_fd: int, screen: Screen
) -> list[tuple[Process, list[str]]]:
    """
    Return the processes to run with their command lines.

    :param ros: ROS arguments of the bridge.
    :param status_fd: file descriptor to which the bridge writes its figures.
    """
    chosen = []
    wanted = [process for process in PROCESSES if is_wanted(process, values)]
    check_ros_packages(wanted)
    for process in wanted:
        if not is_installed(process):
            screen.write_line(
                'up', f'{process.name} is not started: {process.executable} is not installed'
            )
            continue
        if process.reports_status:
            command = command_line(process, values, [f'--status-fd={status_fd}'])
            command += ['--ros-args', *ros] if ros else []
        else:
            command = command_line(process, values)
        chosen.append((process, command))
    return chosen


async def run_until_signal(given: ParsedArguments[SuiteArguments], screen: Screen) -> None:
    """
    Run everything until a signal comes; a second one kills all processes.

    :raises ChildDied: when a vital process ended by itself.
    """
    values = given.values
    figures, status_fd = os.pipe()
    commands = chosen_processes(asdict(values), given.ros, status_fd, screen)
    ours = [(process, words) for process, words in commands if process.command]
    check_packages((process for process, _ in ours), asdict(values))
    check_keys(values.keys)
    check_ports(values, values.bind)
    if values.webxr:
        page = f'http://127.0.0.1:{values.moved("webxr_port")}'
        screen.write_line('up', f'open {page} to watch and drive')
    supervisor = ProcessSupervisor(
        commands,
        {**os.environ, **environment(pythons=(words[0] for _, words in ours))},
        screen.write_line,
        values.use_respawn,
        pass_fds=[status_fd],
    )
    stop = asyncio.Event()

    def handle_signal() -> None:
        if stop.is_set():
            screen.write_line('up', 'killing the remaining processes')
            supervisor.kill()
        else:
            screen.write_line('up', 'stopping')
            stop.set()

    loop = asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(number, handle_signal)
    poller = StatusPoller(connect_address(values.bind), values.moved('rpc_port'), values.keys)
    with poller:
        status = asyncio.create_task(show_status(screen, poller, figures, stop))
        try:
            await supervisor.run(stop)
        finally:
            status.cancel()


async def show_status(
    screen: Screen, poller: StatusPoller, descriptor: int, stop: asyncio.Event
) -> None:
    """Show the figures of the server, and of the bridge from its pipe, until `stop` is set."""
    bridge: Figures | None = None

    async def read_figures() -> None:
        nonlocal bridge
        async for line in lines_of(descriptor):
            bridge = parse_figures(line, time.monotonic()) or bridge

    reading = asyncio.create_task(read_figures())
    try:
        while not stop.is_set():
            screen.show(status_text(poller.latest, bridge, time.monotonic()))
            await asyncio.sleep(REDRAW_SECONDS)
    finally:
        screen.close()
        reading.cancel()


def run(given: ParsedArguments[SuiteArguments]) -> int:
    """Run everything until a signal comes; return 1 when a vital process ended by itself."""
    screen = Screen()
    try:
        asyncio.run(run_until_signal(given, screen))
    except ChildDied as error:
        print(f'error: {error}', file=sys.stderr, flush=True)
        return 1
    finally:
        ignore_interrupt()
        screen.close()
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
