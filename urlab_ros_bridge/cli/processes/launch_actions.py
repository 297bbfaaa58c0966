# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Convert arguments and the table of processes to a launch description.

Only launch files import this module, because it needs `launch` and `launch_ros`.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
import signal
import sys
from typing import Any

from launch import Action
from launch import LaunchContext
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.actions import ExecuteProcess
from launch.actions import LogInfo
from launch.actions import OpaqueFunction
from launch.actions import RegisterEventHandler
from launch.actions import Shutdown
from launch.event_handlers import OnProcessExit
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessExited
from launch.events.process import ProcessIO
from launch_ros.actions import Node

from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import as_text
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.suite import SimulationArguments
from urlab_ros_bridge.cli.errors import ProcessDied
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.logs import ros_level
from urlab_ros_bridge.cli.processes.preflight import check_keys
from urlab_ros_bridge.cli.processes.preflight import check_packages
from urlab_ros_bridge.cli.processes.preflight import check_ports
from urlab_ros_bridge.cli.processes.preflight import check_ros_packages
from urlab_ros_bridge.cli.processes.table import environment
from urlab_ros_bridge.cli.processes.table import is_installed
from urlab_ros_bridge.cli.processes.table import is_wanted
from urlab_ros_bridge.cli.processes.table import node_parameters
from urlab_ros_bridge.cli.processes.table import own_arguments
from urlab_ros_bridge.cli.processes.table import parameter_file
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import program
from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.cli.processes.table import RESPAWN_SECONDS
from urlab_ros_bridge.cli.processes.table import STOP_SECONDS
from urlab_ros_bridge.lifeline import tied

# Launch compares choices as text; users of Nav2 write True, others true.
SWITCH_WORDS = ['true', 'false', 'True', 'False', 'yes', 'no', 'on', 'off', '1', '0']
# Arguments that launch itself accepts for any launch file.
LAUNCH_OWN = (
    'launch-prefix', 'launch-prefix-filter', 'emulate_tty', 'sigterm_timeout', 'sigkill_timeout'
)  # fmt: skip


def described(
    file: str, section: type[SimulationArguments], start: Callable[[Any], Sequence[Action]]
) -> LaunchDescription:
    """
    Return the description of a launch file.

    The arguments are checked before anything starts; a mistake ends launch with one line and exit
    code 1.

    :param file: the launch file.
    :param section: class of its arguments.
    :param start: called with the arguments; returns the actions that start the processes.
    """

    def check(context: LaunchContext) -> None:
        known = arguments_of(section)
        given = dict(context.launch_configurations)
        for name in typed(file, context):
            if name not in known and name not in LAUNCH_OWN:
                raise UnknownArgument(name, known)
        texts = {name: given[name] for name in known if name in given}
        read_arguments(section, texts, Spelling.LAUNCH)

    def begin(context: LaunchContext) -> Sequence[Action]:
        given = context.launch_configurations
        texts = {name: given[name] for name in arguments_of(section)}
        return start(read_arguments(section, texts, Spelling.LAUNCH))

    return LaunchDescription(
        [
            # First, because launch's own message for an invalid choice is less clear.
            OpaqueFunction(function=check),
            *map(declare, arguments_of(section).values()),
            OpaqueFunction(function=begin),
        ]
    )


def typed(file: str, context: LaunchContext) -> list[str]:
    """Return the names of the arguments on the command line, if it names this very launch file."""
    if Path(file).name not in (Path(word).name for word in sys.argv):
        return []  # included by another launch file, whose arguments they are
    return [word.partition(':=')[0] for word in context.argv if ':=' in word]


def declare(argument: Argument) -> DeclareLaunchArgument:
    """Return the launch argument of an argument."""
    choices = SWITCH_WORDS if argument.is_switch else list(argument.choices) or None
    # Launch shows the empty default of a file that depends on the world.
    opened = f' Empty: {argument.shown_default()}.' if argument.by_world else ''
    return DeclareLaunchArgument(
        argument.name,
        default_value=as_text(argument.initial()),
        description=argument.text + opened,
        choices=choices,
    )


def process_actions(
    processes: Sequence[Process],
    arguments: SimulationArguments,
    more: Mapping[str, object] | None = None,
) -> list[Action]:
    """
    Return the actions that start the processes in order, and end all when a vital one ends.

    :param more: further values for the processes.
    :raises UrlabError: when a port is taken or a package is missing.
    """
    values = {**asdict(arguments), **(more or {})}
    wanted = [process for process in processes if is_wanted(process, values)]
    check_ros_packages(wanted)
    installed = [process for process in wanted if is_installed(process)]
    check_packages(installed, values, Spelling.LAUNCH)
    check_keys(arguments.keys)
    check_ports(arguments, arguments.bind, Spelling.LAUNCH)
    programs = {process.name: _program(process, values) for process in installed}
    actions: list[Action] = [
        LogInfo(
            msg=f'{process.name} is not started: the package {process.package} is not installed'
        )
        for process in wanted
        if process not in installed
    ]
    for process in installed:
        if process.vital and not values['use_respawn']:
            end = OnProcessExit(target_action=programs[process.name], on_exit=_end_all(process))
            actions.append(RegisterEventHandler(end))
        # Nodes wait for the server by themselves.  They start here and not in an event handler,
        # where namespace, remappings and parameters of the scope would no longer hold.
        followers = [
            programs[each.name]
            for each in installed
            if each.starts_after == process.name and not each.is_node
        ]
        if followers:
            handler = OnProcessIO(
                target_action=programs[process.name], on_stdout=_when_ready(followers)
            )
            actions.append(RegisterEventHandler(handler))
    # Handlers before programs, so that no event is missed.
    at_once = (process for process in installed if process.is_node or not process.starts_after)
    actions += [programs[process.name] for process in at_once]
    return actions


def _program(process: Process, values: Mapping[str, object]) -> ExecuteProcess:
    half = str(STOP_SECONDS / 2)
    words_of_program = program(process, values)
    pythons = words_of_program[:1] if process.command else ()
    common: dict[str, Any] = {
        'output': 'screen',
        # Programs write colours to a terminal only; a log in a file stays plain.
        'emulate_tty': sys.stdout.isatty(),
        'additional_env': environment(pythons=pythons),
        'sigterm_timeout': half,
        'sigkill_timeout': half,
    }
    if process.vital:
        common |= {'respawn': bool(values['use_respawn']), 'respawn_delay': RESPAWN_SECONDS}
    # They end even after `kill -9` of launch.
    first, *words = tied(
        [*words_of_program, *own_arguments(process, values)], hold_interrupt=bool(process.command)
    )
    if not process.is_node:
        return ExecuteProcess(cmd=[first, *words], name=process.name, **common)
    return Node(
        executable=first,
        arguments=words,
        exec_name=process.name,
        namespace=str(values['namespace']) or None,
        parameters=_parameters(process, values),
        ros_arguments=['--log-level', ros_level(values['log_level'])],
        **common,
    )


def _parameters(process: Process, values: Mapping[str, object]) -> list[object]:
    file, own = parameter_file(process, values), node_parameters(process, values)
    return [each for each in (file, own) if each]


def _end_all(process: Process) -> Callable[[ProcessExited, LaunchContext], Action | None]:
    """Return a handler that ends launch with an error, unless it is ending already."""

    def on_exit(event: ProcessExited, context: LaunchContext) -> Action | None:
        if context.is_shutdown:
            return None
        # Ctrl-C in a terminal reaches the process too, perhaps before launch has handled it.
        if event.returncode in (-signal.SIGINT, 128 + signal.SIGINT):
            return Shutdown(reason=f'{process.name} was interrupted')
        raise ProcessDied(process.name, event.returncode)

    return on_exit


def _when_ready(followers: Sequence[Action]) -> Callable[[ProcessIO], list[Action] | None]:
    """Return a handler that starts the followers when it has seen the ready line, once."""
    waiting = list(followers)
    marker = READY_LINE.encode()
    tail = b''

    def on_stdout(event: ProcessIO) -> list[Action] | None:
        nonlocal tail
        # The line may come in pieces.
        tail = tail[-len(marker) :] + event.text
        if not waiting or marker not in tail:
            return None
        started = waiting.copy()
        waiting.clear()
        return started

    return on_stdout
