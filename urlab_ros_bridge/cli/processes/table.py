# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The table of the processes of a suite.

`urlab up` starts them as child processes and launch/sim.launch.py as launch actions, with the same
command lines, environment and shutdown rules.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import shutil
import sys

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import as_text
from urlab_ros_bridge.cli.arguments.controllers import controller_names
from urlab_ros_bridge.cli.arguments.controllers import MANAGER
from urlab_ros_bridge.cli.arguments.groups import BRIDGE_FILE
from urlab_ros_bridge.cli.arguments.suite import SimulationArguments
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.logs import ros_level
from urlab_ros_bridge.cli.packages import NEEDS
from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.interpreters import MAIN
from urlab_ros_bridge.interpreters import ROS
from urlab_ros_bridge.interpreters import variables_for
from urlab_ros_bridge.kept_memory import allocator_variables

# Start of the line that the server prints on stdout when all its sockets are bound.
READY_LINE = 'urlab server ready'

PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')

# From the first polite signal to a program's end (s); then SIGKILL.
STOP_SECONDS = 5.0
RESPAWN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Process:
    """
    One program.  The names in `options`, `ros_parameters` and `only_if` name arguments.

    :ivar command: command of `urlab`; empty: a program of another package.
    :ivar package: ROS package that holds the program, as `ros2 run` names it.
    :ivar executable: its name in that package.
    :ivar options: (flag, argument): passed on as `--flag=value`.
    :ivar is_node: whether it takes ROS arguments: namespace and log level.
    :ivar params_file: argument with the parameter file of a node.
    :ivar ros_parameters: (parameter, argument), for a node; not passed on where it is empty.
    :ivar other_parameters: returns more parameters of a node from the values of all arguments.
    :ivar words: returns more options from the values of all arguments.
    :ivar ros_packages: ROS packages that it requires.
    :ivar starts_after: process whose `READY_LINE` this one waits for; empty: starts at once.
    :ivar only_if: argument that must be true; `unless`: argument that must be false.
    :ivar vital: its end ends everything, unless `use_respawn` is true.
    :ivar reports_status: whether it writes figures to `--status-fd`.
    """

    name: str
    command: str = ''
    package: str = ''
    executable: str = ''
    options: tuple[tuple[str, str], ...] = ()
    is_node: bool = False
    params_file: str = ''
    ros_parameters: tuple[tuple[str, str], ...] = ()
    other_parameters: Callable[[Mapping[str, object]], dict[str, object]] | None = None
    words: Callable[[Mapping[str, object]], list[str]] | None = None
    ros_packages: tuple[str, ...] = ()
    starts_after: str = ''
    only_if: str = ''
    unless: str = ''
    vital: bool = True
    reports_status: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the Python modules that it requires."""
        return NEEDS[self.command].modules if self.command else ()

    @property
    def is_gateway(self) -> bool:
        """Return whether it is a gateway to another protocol."""
        return bool(self.command and self.only_if)


_SERVER_ARGUMENTS = (*arguments_of(SimulationArguments), 'log_level')


def _of_bridge(values: Mapping[str, object]) -> dict[str, object]:
    """Return parameters of the bridge; the cycles of controller_manager follow /clock."""
    found: dict[str, object] = {}
    if values.get('controllers'):
        found |= {'ros2_control': True, 'clock_rate': 0.0}
    if values.get('allow_absolute_paths'):
        found |= {'allow_absolute_paths': True}
    return found


def _controller_names(values: Mapping[str, object]) -> list[str]:
    return controller_names(str(values['controllers']))


# In order of start; they are stopped in reverse.
PROCESSES: tuple[Process, ...] = (
    Process(
        'server',
        command='server',
        options=tuple((name.replace('_', '-'), name) for name in _SERVER_ARGUMENTS),
    ),
    Process(
        'bridge',
        command='bridge',
        options=(
            ('host', 'bind'),
            ('keys', 'keys'),
            ('rpc-port', 'rpc_port'),
            ('state-port', 'state_port'),
            ('port-offset', 'port_offset'),
        ),
        is_node=True,
        params_file='params_file',
        ros_parameters=(('data_dir', 'data_dir'),),
        other_parameters=_of_bridge,
        starts_after='server',
        reports_status=True,
    ),
    Process(
        'chiral',
        command='chiral',
        options=(
            ('host', 'bind'),
            ('keys', 'keys'),
            ('rpc-port', 'rpc_port'),
            ('port', 'chiral_port'),
            ('port-offset', 'port_offset'),
            ('profile', 'chiral_profile'),
            ('log-level', 'log_level'),
        ),
        starts_after='server',
        only_if='chiral',
    ),
    Process(
        'simspark',
        command='simspark',
        options=(
            ('host', 'bind'),
            ('keys', 'keys'),
            ('rpc-port', 'rpc_port'),
            ('port', 'simspark_port'),
            ('monitor-port', 'monitor_port'),
            ('port-offset', 'port_offset'),
            ('log-level', 'log_level'),
        ),
        starts_after='server',
        only_if='simspark',
    ),
    Process(
        'webxr',
        command='webxr',
        options=(
            ('host', 'bind'),
            ('keys', 'keys'),
            ('rpc-port', 'rpc_port'),
            ('state-port', 'state_port'),
            ('port', 'webxr_port'),
            ('port-offset', 'port_offset'),
            ('log-level', 'log_level'),
        ),
        starts_after='server',
        only_if='webxr',
    ),
    Process(
        'controller_manager',
        package=MANAGER,
        executable='ros2_control_node',
        ros_packages=(MANAGER, 'joint_state_topic_hardware_interface'),
        is_node=True,
        params_file='controllers',
        ros_parameters=(('use_sim_time', 'use_sim_time'),),
        starts_after='server',
        only_if='controllers',
        vital=False,
    ),
    Process(
        'spawner',
        package=MANAGER,
        executable='spawner',
        words=_controller_names,
        is_node=True,
        starts_after='server',
        only_if='controllers',
        vital=False,
    ),
    Process(
        'rviz',
        package='rviz2',
        executable='rviz2',
        options=(('display-config', 'rviz_config'),),
        is_node=True,
        ros_parameters=(('use_sim_time', 'use_sim_time'),),
        starts_after='server',
        only_if='rviz',
        unless='headless',
        vital=False,
    ),
)


def text_of(name: str, values: Mapping[str, object]) -> str:
    """Format an argument for a command line; a file defaults to that of the world."""
    argument = arguments_of(SuiteArguments).get(name)
    if argument is not None and argument.by_world:
        return argument.file_for(values)
    return as_text(values[name])


def parameter_file(process: Process, values: Mapping[str, object]) -> str:
    """
    Return the parameter file of a node, empty for none.

    The shipped file lists every default and would override parameters of a launch file.
    """
    if not process.params_file:
        return ''
    found = text_of(process.params_file, values)
    return '' if Path(found) == shipped_file(BRIDGE_FILE['shipped']) else found


def node_parameters(process: Process, values: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of a node that have a value."""
    found = {parameter: values[name] for parameter, name in process.ros_parameters}
    more = process.other_parameters(values) if process.other_parameters is not None else {}
    return {parameter: value for parameter, value in found.items() if value != ''} | more


def python_for(process: Process, values: Mapping[str, object]) -> str:
    """
    Return the Python that runs one of our commands.

    :param values: with `python`, the one that the user has chosen for what needs no ROS.
    """
    chosen = str(values.get('python', ''))
    if chosen and ROS not in process.needs:
        return chosen
    return find_python(process.needs) or sys.executable


def environment(
    environ: Mapping[str, str] = os.environ, pythons: Iterable[str] = ()
) -> dict[str, str]:
    """
    Return the variables to add to `environ` for every process; variables of the user stay.

    :param pythons: the interpreters of the processes, which have to find this package.

    The profile gives Fast DDS shared memory for camera images (Jazzy reads the older variable).
    The allocator keeps freed memory for the next image.  Python writes its output line by line.
    """
    added = {} if environ.get('PYTHONUNBUFFERED') else {'PYTHONUNBUFFERED': '1'}
    if not any(environ.get(name) for name in PROFILE_VARIABLES):
        added |= dict.fromkeys(PROFILE_VARIABLES, str(shipped_file('config/fastdds.xml')))
    for python in pythons:
        added |= variables_for(python, environ)
    return added | {n: v for n, v in allocator_variables().items() if n not in environ}


def is_wanted(process: Process, values: Mapping[str, object]) -> bool:
    """Return whether the arguments enable the process."""
    return bool(
        (not process.only_if or values[process.only_if])
        and not (process.unless and values[process.unless])
    )


def find_program(process: Process, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of a program of another package, or None when it is not installed."""
    for prefix in environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        place = Path(prefix, 'lib', process.package, process.executable)
        if prefix and os.access(place, os.X_OK):
            return str(place)
    return shutil.which(process.executable, path=environ.get('PATH'))


def missing_ros_packages(process: Process, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the ROS packages that a process needs and that are in no prefix."""
    prefixes = [each for each in environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if each]
    return [
        name
        for name in process.ros_packages
        if not any(Path(prefix, 'share', name).is_dir() for prefix in prefixes)
    ]


def is_installed(process: Process, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the program is installed."""
    return bool(process.command or find_program(process, environ))


def program(process: Process, values: Mapping[str, object]) -> list[str]:
    """Return the command line of a process without arguments."""
    if process.command:
        return [python_for(process, values), '-m', MAIN, process.command]
    return [find_program(process) or process.executable]


def own_arguments(process: Process, values: Mapping[str, object]) -> list[str]:
    """Return the arguments of a process that are not ROS arguments."""
    more = process.words(values) if process.words is not None else []
    return [f'--{flag}={text_of(name, values)}' for flag, name in process.options] + more


def ros_arguments(process: Process, values: Mapping[str, object]) -> list[str]:
    """Return the ROS arguments of a node's command line, as launch_ros writes them."""
    if not process.is_node:
        return []
    words = ['--ros-args', '--log-level', ros_level(values['log_level'])]
    namespace = str(values['namespace']).strip('/')
    if namespace:
        words += ['-r', f'__ns:=/{namespace}']
    if file := parameter_file(process, values):
        words += ['--params-file', file]
    for parameter, value in node_parameters(process, values).items():
        words += ['-p', f'{parameter}:={as_text(value)}']
    return words


def command_line(
    process: Process, values: Mapping[str, object], more: Sequence[str] = ()
) -> list[str]:
    """Return the whole command line of a process; `more` are further options of its own."""
    return [
        *program(process, values),
        *own_arguments(process, values),
        *more,
        *ros_arguments(process, values),
    ]
