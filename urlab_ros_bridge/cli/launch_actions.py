# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Turn the tables of arguments and processes into launch actions.

Only launch files import this module: it needs `launch` and `launch_ros`.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence

from launch import Action
from launch import LaunchContext
from launch import Substitution
from launch.actions import DeclareLaunchArgument
from launch.actions import ExecuteProcess
from launch.actions import LogInfo
from launch.actions import RegisterEventHandler
from launch.actions import Shutdown
from launch.conditions import IfCondition
from launch.conditions import UnlessCondition
from launch.event_handlers import OnProcessExit
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO
from launch.substitutions import AndSubstitution
from launch.substitutions import LaunchConfiguration
from launch.substitutions import NotSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import as_text
from urlab_ros_bridge.cli.processes import environment
from urlab_ros_bridge.cli.processes import FILES_BY_WORLD
from urlab_ros_bridge.cli.processes import is_installed
from urlab_ros_bridge.cli.processes import Process
from urlab_ros_bridge.cli.processes import python_executable
from urlab_ros_bridge.cli.processes import READY_LINE
from urlab_ros_bridge.cli.processes import RESPAWN_SECONDS
from urlab_ros_bridge.cli.processes import STOP_SECONDS

# Launch compares choices as text; users of Nav2 write True, others true.
SWITCH_WORDS = ['true', 'false', 'True', 'False']


def declare(argument: Argument) -> DeclareLaunchArgument:
    """Return the launch argument of a row of the table."""
    choices = SWITCH_WORDS if argument.is_switch else list(argument.choices) or None
    # Launch shows the empty default of a file that depends on the world.
    opened = f' Empty: {argument.shown_default()}.' if argument.by_world else ''
    return DeclareLaunchArgument(
        argument.name,
        default_value=as_text(argument.initial()),
        description=argument.text + opened,
        choices=choices,
    )


class FileByWorld(Substitution):
    """The file that an argument names, or that of the world when it names none."""

    def __init__(self, argument: Argument) -> None:
        super().__init__()
        self.argument = argument

    def describe(self) -> str:
        """Return what `ros2 launch` shows of it."""
        return f'FileByWorld({self.argument.name})'

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        return self.argument.file_for(context.launch_configurations)


def _value(name: str) -> Substitution:
    return (
        FileByWorld(FILES_BY_WORLD[name]) if name in FILES_BY_WORLD else LaunchConfiguration(name)
    )


def process_actions(processes: Sequence[Process]) -> list[Action]:
    """Return the actions that start the processes in order, and end all when a vital one ends."""
    installed = [process for process in processes if is_installed(process)]
    programs = {process.name: _program(process) for process in installed}
    actions: list[Action] = [
        LogInfo(
            msg=f'{process.name} is left out: the package {process.package} is not installed',
            condition=_condition(process),
        )
        for process in processes
        if process not in installed
    ]
    for process in installed:
        if process.vital:
            actions.append(_end_all_with(process, programs[process.name]))
        followers = [programs[p.name] for p in installed if p.starts_after == process.name]
        if followers:
            actions.append(
                RegisterEventHandler(
                    OnProcessIO(
                        target_action=programs[process.name], on_stdout=_when_ready(followers)
                    )
                )
            )
    # The handlers stand before the programs, so that no event is missed.
    actions += [programs[process.name] for process in installed if not process.starts_after]
    return actions


def _program(process: Process) -> ExecuteProcess:
    half = str(STOP_SECONDS / 2)
    common = {
        'output': 'screen',
        'emulate_tty': True,
        'additional_env': environment(),
        'sigterm_timeout': half,
        'sigkill_timeout': half,
        'condition': _condition(process),
    }
    if process.vital:
        common |= {
            'respawn': LaunchConfiguration('use_respawn'),
            'respawn_delay': RESPAWN_SECONDS,
        }
    words = [[f'--{flag}=', _value(name)] for flag, name in process.options]
    if not process.is_node:
        command = [python_executable(), '-m', process.module, *words]
        return ExecuteProcess(cmd=command, name=process.name, **common)
    return Node(
        package=process.package,
        executable=process.executable,
        arguments=words,
        namespace=LaunchConfiguration('namespace'),
        parameters=_parameters(process),
        ros_arguments=['--log-level', LaunchConfiguration('log_level')],
        **common,
    )


def _parameters(process: Process) -> list[object]:
    files = [_value(process.params_file)] if process.params_file else []
    values = {
        parameter: ParameterValue(LaunchConfiguration(name), value_type=bool)
        for parameter, name in process.ros_parameters
    }
    return [*files, values] if values else files


def _condition(process: Process) -> IfCondition | None:
    if not process.only_if:
        return None
    wanted = LaunchConfiguration(process.only_if)
    if not process.unless:
        return IfCondition(wanted)
    return IfCondition(
        AndSubstitution(wanted, NotSubstitution(LaunchConfiguration(process.unless)))
    )


def _end_all_with(process: Process, program: ExecuteProcess) -> RegisterEventHandler:
    end = Shutdown(
        reason=f'{process.name} ended',
        condition=UnlessCondition(LaunchConfiguration('use_respawn')),
    )
    return RegisterEventHandler(OnProcessExit(target_action=program, on_exit=[end]))


def _when_ready(followers: Sequence[Action]) -> Callable[[ProcessIO], list[Action] | None]:
    """Return a handler that starts the followers when it has seen the ready line, once."""
    waiting = list(followers)
    marker = READY_LINE.encode()
    heard = b''

    def on_stdout(event: ProcessIO) -> list[Action] | None:
        nonlocal heard
        # The line may come in pieces.
        heard = heard[-len(marker) :] + event.text
        if not waiting or marker not in heard:
            return None
        started = waiting.copy()
        waiting.clear()
        return started

    return on_stdout
