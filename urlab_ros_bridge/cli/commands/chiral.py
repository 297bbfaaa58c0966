# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab chiral`: serve a robot to policies until a signal comes."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import chiral_profile
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import CHIRAL_PORT
from urlab_ros_bridge.cli.arguments.groups import ConnectTimeout
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import NAME_OR_FILE
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import WebSocketAccess
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.gateway import serve_until_signal
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.kept_memory import keep_freed_memory
from urlab_ros_bridge.schema import key

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer

# Start of the line that is printed on stdout when a policy may connect.
READY_LINE = 'urlab chiral ready'


@dataclass(frozen=True, kw_only=True)
class ChiralSettings(Arguments):
    """Gateway."""

    port: int = key(
        CHIRAL_PORT, 'TCP port of the WebSocket.', metavar='PORT', low=0, high=LAST_PORT
    )
    profile: str = key(
        '',
        'Bundled profile such as bimanual, or YAML file that defines the observations and '
        'actions of a policy; default: everything the robot has.',
        check=chiral_profile,
        **NAME_OR_FILE,
    )
    pace: str = key(
        'profile',
        'Real time, or one control period per action (lockstep); default: as set in the profile.',
        choices=('profile', 'real_time', 'lockstep'),
    )
    viewers: bool = key(False, 'Let clients on the path /view watch while another client drives.')
    legacy: bool = key(False, 'Also accept the older dialect, in which an action is a step.')


@dataclass(frozen=True, kw_only=True)
class ChiralArguments(
    HostArguments, RpcPort, PortOffset, ChiralSettings, WebSocketAccess, ConnectTimeout, LogLevel
):
    """The arguments of `urlab chiral`."""


def make_gateway(values: ChiralArguments) -> ChiralServer:
    """
    Create the gateway; it is not started.

    :raises CliError: when a package is not installed.
    :raises ProfileError: when the profile is missing or invalid.
    :raises OpenWithoutToken: when the whole network could drive without --token or --insecure.
    """
    require('chiral')
    from urlab_ros_bridge.gateways.chiral.profile import find_profile
    from urlab_ros_bridge.gateways.chiral.profile import load_profile
    from urlab_ros_bridge.gateways.chiral.profile import Profile
    from urlab_ros_bridge.gateways.chiral.serving.server import ChiralConfig
    from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer

    keep_freed_memory()  # an observation has megabytes
    profile = load_profile(find_profile(values.profile)) if values.profile else Profile()
    if values.pace != 'profile':
        profile = replace(profile, pace=values.pace)
    return ChiralServer(
        ChiralConfig(
            profile,
            host=connect_address(values.host),
            rpc_port=values.moved('rpc_port'),
            keys=values.keys,
            bind=values.bind,
            port=values.moved('port'),
            token=values.token,
            insecure=values.insecure,
            allow_origins=values.origins(),
            viewers=values.viewers,
            legacy=values.legacy,
        )
    )


def ready_line(gateway: ChiralServer) -> str:
    """Return the line that is printed when policies may connect."""
    served = gateway.metadata()
    return (
        f'{READY_LINE}: {gateway.url} robot={served["robot"]} pace={served["pace"]} '
        f'cameras={",".join(served["cameras"]) or "none"} action={served["action_layout"]}'
    )


def run(given: ParsedArguments[ChiralArguments]) -> int:
    """Serve until a signal comes."""
    values = given.values
    logger = set_up_logging(values.log_level)
    gateway = make_gateway(values)
    if values.is_open:
        logger.warning('--insecure: anyone who can reach %s can drive the robot', values.bind)
    serve_until_signal(gateway, values.timeout, lambda: ready_line(gateway))
    return 0


COMMAND = Command(
    name='chiral',
    summary='Serve a robot of a simulation to policies (Chiral protocol).',
    text='Serve a robot of a running simulation to policies over the Chiral protocol: images,\n'
    'depth and joint states of one simulation step out, actions in, over a WebSocket. Works with\n'
    'any URLab server; needs no ROS. Prints "urlab chiral ready" when policies can connect.',
    section=ChiralArguments,
    run=run,
    handles_signals=True,
    examples=(
        ('urlab chiral', 'the first robot of the server on this machine'),
        ('urlab chiral --profile bimanual', 'a bundled profile, for the world bimanual'),
        ('urlab chiral --pace lockstep', 'time advances with each action: repeatable'),
        ('urlab chiral --profile my_profile.yaml --viewers', 'your choice of cameras and actions'),
    ),
)
