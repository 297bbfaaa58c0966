# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Groups of arguments that several commands share.

A command combines them to its own class; the help lists them from left to right.  The docstring
of a group is its title in the help; groups of one title are listed together.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.checks import bind_address
from urlab_ros_bridge.cli.arguments.checks import bundled_world
from urlab_ros_bridge.cli.arguments.checks import chiral_profile
from urlab_ros_bridge.cli.arguments.checks import existing_file
from urlab_ros_bridge.cli.arguments.checks import folder
from urlab_ros_bridge.cli.arguments.checks import four_numbers
from urlab_ros_bridge.cli.arguments.checks import model_file
from urlab_ros_bridge.cli.arguments.checks import package_folders
from urlab_ros_bridge.cli.arguments.checks import parameter_file
from urlab_ros_bridge.cli.arguments.checks import ros_namespace
from urlab_ros_bridge.cli.arguments.checks import xacro_arguments
from urlab_ros_bridge.cli.arguments.controllers import controllers_file
from urlab_ros_bridge.robot_import.options import BASES
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.options import pairs
from urlab_ros_bridge.robot_import.options import UP_AXES
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.wire.addresses import is_loopback
from urlab_ros_bridge.wire.dialect import DIALECTS
from urlab_ros_bridge.wire.dialect import PAGE
from urlab_ros_bridge.wire.ops import CAMERA_PORT
from urlab_ros_bridge.wire.ops import CONTROL_PORT
from urlab_ros_bridge.wire.ops import INFO_PORT
from urlab_ros_bridge.wire.ops import MODES
from urlab_ros_bridge.wire.ops import RPC_PORT
from urlab_ros_bridge.wire.ops import SPEED_PERCENT
from urlab_ros_bridge.wire.ops import STATE_PORT

LOG_LEVELS = ('debug', 'info', 'warn', 'error')
DEFAULT_WORLD = 'rover'
CHIRAL_PORT = 8765
WEBXR_PORT = 8766
SIMSPARK_PORT = 3100
MONITOR_PORT = 3200
LAST_PORT = 65535

_PORT: dict[str, Any] = {'metavar': 'PORT', 'low': 0, 'high': LAST_PORT}
PATH: dict[str, Any] = {'metavar': 'FILE', 'longest': 4096, 'path': True}
FOLDER: dict[str, Any] = {**PATH, 'metavar': 'DIR', 'check': folder}
NAME_OR_FILE: dict[str, Any] = {**PATH, 'metavar': 'NAME|FILE'}
# The parameter file of the bridge.
BRIDGE_FILE: dict[str, Any] = {'shipped': 'config/bridge.yaml', 'check': parameter_file, **PATH}


@dataclass(frozen=True, kw_only=True)
class WorldArguments(Arguments):
    """World."""

    world: str = key(DEFAULT_WORLD, 'Bundled world to serve.', metavar='NAME', check=bundled_world)
    model: str = key(
        '',
        'MJCF, URDF, xacro or SDF file, or folder of an SDF model, to serve instead of a bundled '
        'world; a YAML file next to an MJCF file, with the same stem, describes its robots.',
        check=model_file,
        **PATH,
    )
    robot: str = key(
        '',
        'Robot of MuJoCo Menagerie to serve instead of a world; `urlab robots` lists the names.',
        metavar='NAME',
    )
    scene: str = key(
        '',
        'SDF, MJCF or sidecar file of a world to put the robot of --model or --robot into.',
        check=model_file,
        **PATH,
    )
    pose: str = key(
        '',
        'Where the robot is put into --scene: "X Y Z YAW" (m, rad); Z is added to the height at '
        'which it stands on the floor.',
        metavar='POSE',
        check=four_numbers,
    )
    prefix: str = key(
        '',
        'Name of the robot on the wire, or of the first of several; default: from the world.',
        metavar='P',
    )
    actor_id: str = key(
        '',
        'Actor id of that robot; default: from the world, or else the prefix.',
        metavar='ID',
    )

    def check(self) -> None:
        """Refuse more than one of world, model and robot."""
        # Launch passes every argument, so a model may be combined with the default world.
        world = self.world if self.world != DEFAULT_WORLD else ''
        given = [name for name, value in (('world', world), ('model', self.model),
                                          ('robot', self.robot)) if value]  # fmt: skip
        if len(given) > 1:
            problem = f'{" and ".join(given)} are mutually exclusive: give one of them'
            raise KeyProblem(given[-1], problem)
        if self.scene and not (self.model or self.robot):
            raise KeyProblem('scene', 'scene needs a robot to put into it: give model or robot')
        if self.pose and not self.scene:
            raise KeyProblem('pose', 'pose is where a robot is in a scene: give scene, too')

    def place(self) -> tuple[float, float, float, float] | None:
        """Return `pose` as numbers, None when it is not given."""
        if not self.pose:
            return None
        x, y, z, yaw = map(float, self.pose.split())
        return x, y, z, yaw


@dataclass(frozen=True, kw_only=True)
class ImportArguments(Arguments):
    """Import of URDF and xacro."""

    package_path: str = key(
        '',
        'Folder of a ROS package that a URDF names, in addition to the ament index and '
        'ROS_PACKAGE_PATH. May be repeated.',
        metavar='NAME=DIR',
        longest=4096,
        separator=os.pathsep,
        check=package_folders,
    )
    xacro_arg: str = key(
        '',
        'Argument of a xacro file. May be repeated.',
        metavar='KEY:=VALUE',
        longest=4096,
        separator=' ',
        check=xacro_arguments,
    )
    srdf: str = key(
        '',
        'SRDF file whose disabled collisions are excluded; default: the one with the stem of the '
        'URDF, if there is one.',
        check=existing_file,
        **PATH,
    )
    base: str = key(
        'auto',
        'Whether the root link of a URDF is fixed to the world; auto decides by its shape.',
        choices=BASES,
    )
    allow_missing_meshes: bool = key(
        False, 'Leave out meshes of a URDF that are missing or unreadable.'
    )
    mesh_up_axis: str = key(
        'raw',
        'Whether the up axis that a Collada file names is ignored, as by RViz, MoveIt and Gazebo '
        '(raw), or applied (file).',
        choices=UP_AXES,
    )

    def import_options(self) -> ImportOptions:
        """Return the settings of an import."""
        folders = pairs(self.package_path, os.pathsep, '=')
        return ImportOptions(
            package_paths={name: Path(path).absolute() for name, path in folders.items()},
            xacro_arguments=pairs(self.xacro_arg, ' ', ':='),
            srdf=Path(self.srdf) if self.srdf else None,
            base=self.base,
            allow_missing_meshes=self.allow_missing_meshes,
            mesh_up_axis=self.mesh_up_axis,
        )


@dataclass(frozen=True, kw_only=True)
class Bind(Arguments):
    """Address and access."""

    bind: str = key(
        '127.0.0.1',
        'Address to listen on. Non-loopback addresses require --keys or --insecure.',
        metavar='ADDR',
        check=bind_address,
    )
    keys: str = key(
        '',
        'Folder of keys (`urlab keys`): encrypt connections, and admit only clients '
        'whose keys are in it.',
        **FOLDER,
    )
    insecure: bool = key(
        False,
        'Let any client that reaches the address of --bind control the simulation, without keys.',
    )

    def check(self) -> None:
        """Refuse an open non-loopback address unless --insecure is given."""
        if not (self.keys or self.insecure or is_loopback(self.bind)):
            raise KeyProblem(
                'bind',
                f'{self.bind} lets any machine on the network drive the simulation: make keys '
                'with `urlab keys DIR` and give keys DIR, or give insecure to accept any client, '
                'or bind 127.0.0.1 and forward the ports through ssh',
            )


@dataclass(frozen=True, kw_only=True)
class HostArguments(Arguments):
    """Connection to the server."""

    host: str = key('127.0.0.1', 'Address of the server.', metavar='ADDR')
    keys: str = key(
        '', 'Folder of keys (`urlab keys`), for a server started with --keys.', **FOLDER
    )


@dataclass(frozen=True, kw_only=True)
class RpcPort(Arguments):
    """Ports."""

    rpc_port: int = key(RPC_PORT, 'TCP port for requests (REQ/REP).', **_PORT)


@dataclass(frozen=True, kw_only=True)
class StatePort(Arguments):
    """Ports."""

    state_port: int = key(STATE_PORT, 'TCP port of the state stream (PUB).', **_PORT)


@dataclass(frozen=True, kw_only=True)
class CameraPort(Arguments):
    """Ports."""

    camera_port: int = key(CAMERA_PORT, 'TCP port of the camera stream (PUB).', **_PORT)


@dataclass(frozen=True, kw_only=True)
class SidePorts(Arguments):
    """Ports."""

    control_port: int = key(
        CONTROL_PORT,
        'TCP port of the inbound control stream (SUB): setpoints and gains without a reply.',
        **_PORT,
    )
    info_port: int = key(
        INFO_PORT, 'TCP port of the info stream (PUB): lists of actuators and cameras.', **_PORT
    )


@dataclass(frozen=True, kw_only=True)
class PortOffset(Arguments):
    """Ports."""

    port_offset: int = key(
        0,
        'Number added to every port, to run several simulations on one machine: 10 for the '
        'second, 20 for the third.',
        metavar='N',
        low=0,
        high=LAST_PORT,
    )

    def moved(self, name: str) -> int:
        """Return a port plus the offset; 0 (any free port) stays 0."""
        port: int = getattr(self, name)
        return port + self.port_offset if port else 0

    def port_names(self) -> list[str]:
        """Return the names of the arguments that are ports."""
        names = arguments_of(type(self))
        return [name for name in names if name == 'port' or name.endswith('_port')]

    def check(self) -> None:
        """Refuse ports that are used twice or exceed the largest port number."""
        used: dict[int, str] = {}
        for name in self.port_names():
            port = self.moved(name)
            if port and used.setdefault(port, name) != name:
                raise KeyProblem(name, f'{port} is already used by {used[port]}')
            if port > LAST_PORT:
                problem = f'{name} would be {port}, and the last port is {LAST_PORT}'
                raise KeyProblem('port_offset', f'{problem}; not {self.port_offset}')


@dataclass(frozen=True, kw_only=True)
class ServerPorts(RpcPort, StatePort, CameraPort, SidePorts, PortOffset):
    """All ports of the server."""


@dataclass(frozen=True, kw_only=True)
class Serving(Arguments):
    """Step server."""

    step_mode: str = key(
        'auto',
        'live runs in real time, direct steps on request of a client, puppet shows poses from a '
        'client; these three pin the mode. auto is live until a policy client connects.',
        choices=('auto', *MODES),
    )
    dialect: str = key(
        PAGE,
        'Dialect of the protocol: page (the Protocol Reference, which plugins of 2026 before v0.6 '
        'speak), or 0.6 for clients of the plugin since v0.6.',
        choices=DIALECTS,
    )
    paused: bool = key(False, 'Start with simulation time paused.')
    speed: float = key(
        100.0,
        'Speed of live mode in percent of real time; a lower speed gives nodes more wall time per '
        'second of simulation. Clients can change it.',
        metavar='PERCENT',
        low=SPEED_PERCENT[0],
        high=SPEED_PERCENT[1],
        unit='%',
    )
    data_dir: str = key(
        '',
        'Folder for recordings, bags, levels and models of clients; default: urlab in the data '
        'folder of the user (XDG_DATA_HOME).',
        **FOLDER,
    )
    data_limit: float = key(
        20.0,
        'Size of that folder (GB) above which clients cannot write to it; 0: no limit.',
        metavar='GB',
        low=0.0,
        unit='GB',
    )
    allow_absolute_paths: bool = key(False, 'Let clients use files outside the data folder.')
    no_shm: bool = key(False, 'Do not offer shared memory to clients on this machine.')
    cameras: str = key(
        'auto',
        'auto renders while a client subscribes, on starts the renderer with the server, off '
        'never renders.',
        choices=('auto', 'on', 'off'),
    )
    gl: str = key(
        'auto',
        'OpenGL for off-screen rendering: EGL, OSMesa, or the first that works (auto).',
        choices=('auto', 'egl', 'osmesa'),
    )


@dataclass(frozen=True, kw_only=True)
class Namespace(Arguments):
    """ROS nodes."""

    namespace: str = key('', 'Namespace of the ROS nodes.', metavar='NS', check=ros_namespace)


@dataclass(frozen=True, kw_only=True)
class BridgeParameters(Arguments):
    """ROS nodes."""

    params_file: str = key(
        '',
        'YAML file with the parameters of the bridge.',
        by_world='config/bridge/{world}.yaml',
        **BRIDGE_FILE,
    )


@dataclass(frozen=True, kw_only=True)
class Ros2Control(Arguments):
    """controller_manager beside the bridge."""

    controllers: str = key(
        '',
        'YAML file of controller_manager: starts it with these controllers, and sets ros2_control '
        'in the bridge.',
        check=controllers_file,
        **PATH,
    )


@dataclass(frozen=True, kw_only=True)
class Rviz(Arguments):
    """RViz."""

    use_sim_time: bool = key(
        True,
        'Let the other nodes (RViz) use /clock, which the bridge publishes.',
    )
    rviz: bool = key(
        False, 'Start RViz, if it is installed, showing the robot, the world and the sensors.'
    )
    rviz_config: str = key(
        '',
        'RViz configuration file.',
        shipped='config/rviz/default.rviz',
        by_world='config/rviz/{world}.rviz',
        check=existing_file,
        **PATH,
    )
    headless: bool = key(False, 'Open no windows: RViz does not start even if rviz is true.')


@dataclass(frozen=True, kw_only=True)
class Respawn(Arguments):
    """Processes."""

    use_respawn: bool = key(False, 'Restart a process that died instead of stopping everything.')


@dataclass(frozen=True, kw_only=True)
class Interpreter(Arguments):
    """Processes."""

    python: str = key(
        '',
        'Python for the step server and the gateways; default: one that has their packages, such '
        'as that of `urlab setup`.',
        check=existing_file,
        **PATH,
    )


@dataclass(frozen=True, kw_only=True)
class ChiralGateway(Arguments):
    """Chiral gateway."""

    chiral: bool = key(False, 'Also serve the robot to policies, over the Chiral protocol.')
    chiral_port: int = key(CHIRAL_PORT, 'TCP port of the Chiral gateway (WebSocket).', **_PORT)
    chiral_profile: str = key(
        '',
        'Bundled profile such as bimanual, or YAML file that defines the observations and '
        'actions of a policy; default: everything the robot has.',
        check=chiral_profile,
        **NAME_OR_FILE,
    )


@dataclass(frozen=True, kw_only=True)
class SimSparkBeside(Arguments):
    """SimSpark gateway."""

    simspark: bool = key(
        False, 'Also serve the simulation to RoboCup tools, over the SimSpark protocol.'
    )
    simspark_port: int = key(SIMSPARK_PORT, 'TCP port of SimSpark agents.', **_PORT)
    monitor_port: int = key(
        MONITOR_PORT, 'TCP port of SimSpark monitors (RoboViz) and trainers.', **_PORT
    )


@dataclass(frozen=True, kw_only=True)
class WebXrGateway(Arguments):
    """Virtual Field gateway."""

    webxr: bool = key(
        False, 'Also show the simulation in browsers and headsets, and let users control it.'
    )
    webxr_port: int = key(
        WEBXR_PORT, 'TCP port of the Virtual Field gateway (web page and WebSocket).', **_PORT
    )


@dataclass(frozen=True, kw_only=True)
class WebSocketAccess(Arguments):
    """Address and access."""

    bind: str = key(
        '127.0.0.1',
        'Address to listen on. Non-loopback addresses require --token or --insecure.',
        metavar='ADDR',
    )
    token: str = key(
        '', 'Token that clients must send: ?token=... or Authorization: Bearer ...', longest=4096
    )
    insecure: bool = key(
        False, 'Admit every client that reaches the address of --bind, without a token.'
    )
    allow_origin: str = key(
        '',
        'Comma-separated sites whose pages may connect from a browser; pages from this machine '
        'always may.',
        metavar='ORIGINS',
        longest=4096,
    )

    @property
    def is_open(self) -> bool:
        """Return whether any machine on the network may connect without a token."""
        return not (self.token or is_loopback(self.bind))

    def origins(self) -> tuple[str, ...]:
        """Return the sites of `allow_origin`."""
        return tuple(filter(None, map(str.strip, self.allow_origin.split(','))))


@dataclass(frozen=True, kw_only=True)
class ConnectTimeout(Arguments):
    """Connection to the server."""

    timeout: float = key(
        10.0, 'Timeout for connecting to the simulation.', metavar='SECONDS', low=0.0, unit='s'
    )


@dataclass(frozen=True, kw_only=True)
class LogLevel(Arguments):
    """Processes."""

    log_level: str = key('info', 'Lowest severity to log.', choices=LOG_LEVELS)
