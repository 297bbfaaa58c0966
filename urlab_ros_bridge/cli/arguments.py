# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Every argument of every command, as one table.

The command line, the arguments of launch/sim.launch.py and docs/commands.md come from it.  An
argument `step_mode` is `--step-mode` for argparse and `step_mode:=live` for launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.shipped import shipped_file
from urlab_ros_bridge.wire.ops import CAMERA_PORT
from urlab_ros_bridge.wire.ops import CONTROL_PORT
from urlab_ros_bridge.wire.ops import INFO_PORT
from urlab_ros_bridge.wire.ops import MODES
from urlab_ros_bridge.wire.ops import RPC_PORT
from urlab_ros_bridge.wire.ops import STATE_PORT

TRUE_WORDS = ('true', '1', 'yes', 'on')
FALSE_WORDS = ('false', '0', 'no', 'off')
LOG_LEVELS = ('debug', 'info', 'warn', 'error')
DEFAULT_WORLD = 'rover'


@dataclass(frozen=True, slots=True)
class Argument:
    """
    One argument; its type is the type of its default.

    :ivar name: as launch writes it, with underscores.
    :ivar text: what it does, one or two sentences.
    :ivar choices: the words it takes, empty for any.
    :ivar metavar: placeholder in the help.
    :ivar shipped: default as a file of the package (`config/bridge.yaml`), instead of `default`.
    :ivar by_world: file of the package that takes the place of `shipped` for a bundled world that
        has one (`config/rviz/{world}.rviz`); see `file_for`.
    """

    name: str
    text: str
    default: str | int | float | bool = ''
    choices: tuple[str, ...] = ()
    metavar: str = ''
    shipped: str = ''
    by_world: str = ''

    @property
    def flag(self) -> str:
        """Return the option of the command line, `--step-mode`."""
        return '--' + self.name.replace('_', '-')

    @property
    def is_switch(self) -> bool:
        """Return whether the argument is true or false."""
        return isinstance(self.default, bool)

    @property
    def placeholder(self) -> str:
        """Return what stands for the value in the help: `PORT`, `live|direct`."""
        if self.is_switch:
            return 'true|false'
        return self.metavar or '|'.join(self.choices) or self.name.upper()

    def initial(self) -> str | int | float | bool:
        """Return the default, with a shipped file as an absolute path."""
        if self.by_world or not self.shipped:
            return self.default
        return str(shipped_file(self.shipped))

    def file_for(self, values: Mapping[str, object]) -> str:
        """
        Return the file that was given, else that of the bundled world, else the shipped one.

        :param values: all arguments by name.
        """
        if values[self.name]:
            return str(values[self.name])
        if not values['model']:
            own = shipped_file(self.by_world.format(world=values['world']))
            if own.is_file():
                return str(own)
        return str(shipped_file(self.shipped))

    def shown_default(self) -> str:
        """Return the default as help and documentation show it; empty when there is none."""
        if self.by_world:
            own = self.by_world.format(world='WORLD')
            return f'{own} of the package where there is one, else {self.shipped}'
        if self.shipped:
            return f'{self.shipped} of the package'
        return as_text(self.default)

    def parse(self, text: str) -> Any:
        """
        Return the value that `text` stands for.

        :raises BadArgument: when the text is not a value of this argument.
        """
        if self.is_switch:
            return self._parse_switch(text)
        if self.choices and text not in self.choices:
            raise BadArgument(self.flag, text, 'one of ' + ', '.join(self.choices))
        if isinstance(self.default, int):
            return self._parse_port(text) if self.metavar == 'PORT' else self._parse_count(text)
        if isinstance(self.default, float):
            return self._parse_number(text)
        return text

    def _parse_switch(self, text: str) -> bool:
        word = text.strip().lower()
        if word not in TRUE_WORDS + FALSE_WORDS:
            raise BadArgument(self.flag, text, 'true or false')
        return word in TRUE_WORDS

    def _parse_port(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) <= 65535):
            raise BadArgument(self.flag, text, 'a port from 0 to 65535')
        return int(text)

    def _parse_count(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise BadArgument(self.flag, text, 'a whole number, 0 or more')
        return int(text)

    def _parse_number(self, text: str) -> float:
        unit = 'metres' if self.metavar == 'M' else 'seconds'
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float('inf'):
            raise BadArgument(self.flag, text, f'a number of {unit}, 0 or more')
        return value


def as_text(value: str | int | float | bool) -> str:
    """
    Return a value as the command line and launch write it.

    >>> as_text(True), as_text(5559)
    ('true', '5559')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


LOG_LEVEL = Argument('log_level', 'Least severity that is logged.', 'info', LOG_LEVELS)

PORTS = (
    Argument('rpc_port', 'TCP port of the requests (REQ/REP).', RPC_PORT, metavar='PORT'),
    Argument('state_port', 'TCP port of the state stream (PUB).', STATE_PORT, metavar='PORT'),
    Argument('camera_port', 'TCP port of the camera stream (PUB).', CAMERA_PORT, metavar='PORT'),
)

# A server whose port is taken goes on without the stream.
SIDE_PORTS = (
    Argument(
        'control_port',
        'TCP port of the inbound control stream (SUB): setpoints and gains without a reply.',
        CONTROL_PORT,
        metavar='PORT',
    ),
    Argument(
        'info_port',
        'TCP port of the info stream (PUB): lists of actuators and cameras.',
        INFO_PORT,
        metavar='PORT',
    ),
)

WORLD = (
    Argument('world', 'Bundled world to serve.', DEFAULT_WORLD, metavar='NAME'),
    Argument(
        'model',
        'MJCF file to serve instead of a bundled world; a YAML file beside it with '
        'the same stem describes its robots.',
        metavar='FILE',
    ),
    Argument(
        'prefix',
        'Name of the robot on the wire, when the world has one robot; default: as the world says.',
        metavar='P',
    ),
    Argument(
        'actor_id',
        'Actor id of that robot; default: as the world says, or the prefix.',
        metavar='ID',
    ),
)

BIND = Argument(
    'bind',
    'Address to listen on. Anything but loopback lets the whole network '
    'drive the simulation: there is no password.',
    '127.0.0.1',
    metavar='ADDR',
)

SERVING = (
    Argument(
        'step_mode',
        'live runs in real time, direct steps when a client asks, puppet takes '
        'poses; these three pin the mode. auto is live until a policy client connects.',
        'auto',
        ('auto', *MODES),
    ),
    Argument('paused', 'Start with simulation time held still.', False),
    Argument(
        'data_dir',
        'Folder that recordings are written to and read from; default: '
        'urlab in the data folder of the user (XDG_DATA_HOME).',
        metavar='DIR',
    ),
    Argument('allow_absolute_paths', 'Let clients name files outside the data folder.', False),
    Argument('no_shm', 'Offer no shared memory to clients on this machine.', False),
    Argument(
        'cameras',
        'auto renders while somebody looks, on starts the renderer with the server, off never '
        'renders.',
        'auto',
        ('auto', 'on', 'off'),
    ),
    Argument(
        'gl',
        'OpenGL that renders off screen: EGL, OSMesa, or whichever of them works.',
        'auto',
        ('auto', 'egl', 'osmesa'),
    ),
)

EDITOR = Argument(
    'editor',
    'Serve the ops of the editor too: levels, actors, play. Without --world and --model no world '
    'runs at first.',
    False,
)

HOST = Argument('host', 'Address of the server.', '127.0.0.1', metavar='ADDR')

# Named as the users of Nav2 know them.
NAMESPACE = Argument('namespace', 'Namespace of the ROS nodes.', metavar='NS')
PARAMS_FILE = Argument(
    'params_file',
    'YAML file with the parameters of the bridge.',
    shipped='config/bridge.yaml',
    metavar='FILE',
)
ROS = (NAMESPACE, PARAMS_FILE)

STACK = (
    NAMESPACE,
    replace(PARAMS_FILE, by_world='config/bridge/{world}.yaml'),
    Argument(
        'use_sim_time',
        'Let the nodes beside the bridge (RViz) follow /clock; the bridge '
        'is the one that publishes it.',
        True,
    ),
    Argument(
        'rviz',
        'Start RViz with the robot, the world and the sensors, when it is installed.',
        False,
    ),
    Argument(
        'rviz_config',
        'What RViz shows.',
        shipped='config/rviz/default.rviz',
        by_world='config/rviz/{world}.rviz',
        metavar='FILE',
    ),
    Argument('headless', 'Open no window at all: RViz stays off, whatever rviz says.', False),
    Argument('use_respawn', 'Start a process again after it died, instead of ending all.', False),
)

CHIRAL = (
    Argument('chiral', 'Serve the robot to policies too, by the Chiral protocol.', False),
    Argument('chiral_port', 'TCP port of the Chiral gateway (WebSocket).', 8765, metavar='PORT'),
    Argument(
        'chiral_profile',
        'YAML file that says what a policy sees and what its actions mean; default: everything '
        'that the robot has.',
        metavar='FILE',
    ),
)

SERVER_ARGUMENTS = (*WORLD, BIND, *PORTS, *SIDE_PORTS, *SERVING, EDITOR, LOG_LEVEL)
# The bridge learns the camera port from the server.
BRIDGE_ARGUMENTS = (HOST, *PORTS[:2], *ROS, LOG_LEVEL)
UP_ARGUMENTS = (*WORLD, BIND, *PORTS, *SIDE_PORTS, *SERVING, *STACK, *CHIRAL, LOG_LEVEL)
DOCTOR_ARGUMENTS = (
    HOST,
    *PORTS,
    Argument('timeout', 'Seconds to wait for a server to answer.', 1.0, metavar='SECONDS'),
)
