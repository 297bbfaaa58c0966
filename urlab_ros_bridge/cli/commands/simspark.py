# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab simspark`: serve a simulation to RoboCup tools until a signal comes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import bind_address
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import ConnectTimeout
from urlab_ros_bridge.cli.arguments.groups import HostArguments
from urlab_ros_bridge.cli.arguments.groups import LAST_PORT
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import MONITOR_PORT
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.arguments.groups import PortOffset
from urlab_ros_bridge.cli.arguments.groups import RpcPort
from urlab_ros_bridge.cli.arguments.groups import SIMSPARK_PORT
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.cli.processes.gateway import serve_until_signal
from urlab_ros_bridge.cli.processes.ports import connect_address
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.addresses import is_loopback

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkGateway

# Start of the line that is printed on stdout when clients may connect.
READY_LINE = 'urlab simspark ready'


def _kick_off_rule(text: str) -> str:
    """Check a condition for a kick-off."""
    from urlab_ros_bridge.gateways.simspark.game.rules import BadKickOff
    from urlab_ros_bridge.gateways.simspark.game.rules import KickOff

    try:
        KickOff.parse(text)
    except BadKickOff as error:
        return str(error)
    return ''


def _referee_rules(text: str) -> str:
    """Check names of rules."""
    from urlab_ros_bridge.gateways.simspark.referee.referee import read_rules
    from urlab_ros_bridge.gateways.simspark.referee.referee import UnknownRule

    try:
        read_rules(text)
    except UnknownRule as error:
        return str(error)
    return ''


@dataclass(frozen=True, kw_only=True)
class SimSparkSettings(Arguments):
    """Gateway."""

    bind: str = key(
        '127.0.0.1',
        'Address to listen on. Non-loopback addresses require --insecure, because the protocol '
        'has no password.',
        metavar='ADDR',
        check=bind_address,
    )
    insecure: bool = key(
        False, 'Let any client that reaches the address of --bind command players and the game.'
    )
    port: int = key(
        SIMSPARK_PORT, 'TCP port of the agents.', metavar='PORT', low=0, high=LAST_PORT
    )
    monitor_port: int = key(
        MONITOR_PORT, 'TCP port of monitors and trainers.', metavar='PORT', low=0, high=LAST_PORT
    )
    pace: str = key(
        'live',
        "live: follow the server's own time; real_time: the gateway steps the world, in real "
        'time; free: it steps the world as fast as the machine and agents in sync mode allow.',
        choices=('live', 'real_time', 'free'),
    )
    sync: bool = key(
        True,
        'Wait for agents that end their messages with (syn), with the paces real_time and free. '
        'Proxies that send (syn) themselves, as magmaProxy, need false.',
    )
    log: str = key(
        '',
        'Log file that RoboViz can replay; an existing one is overwritten.',
        **PATH,
    )
    referee: bool = key(
        True, 'Enforce the rules on a soccer field: goals, balls out of play, halves, kick-offs.'
    )
    rules: str = key(
        'league',
        'Rules beyond goals, balls out of play and halves: league (those of SimSpark 0.7), all, '
        'none, or names separated by commas.',
        metavar='RULES',
        check=_referee_rules,
    )
    players: str = key(
        'auto',
        'Which robots of a soccer field are players. joined: those of agents, others stand far '
        'away, unseen; all: every robot; auto: joined with the paces real_time and free.',
        choices=('auto', 'joined', 'all'),
    )
    kick_off: str = key(
        '',
        'Start each half without a trainer: both (as soon as both teams have an agent), N (agents '
        'are there) or SECONDSs (after an agent joins, as 10s). With both and N, time stands '
        'still until then, unless the pace is live.',
        metavar='RULE',
        check=_kick_off_rule,
    )
    vision_cycles: int = key(
        2, 'Send vision to agents every N cycles of 20 ms.', metavar='N', low=1, high=50
    )
    noise: bool = key(False, 'Add the noise of the league to the vision and the beams of agents.')
    seed: int = key(0, 'Seed of the noise.', metavar='N', low=0, high=2**31 - 1)
    nao_meshes: bool = key(
        True,
        "Show players in viewers by the viewers' own meshes of the Nao, which need a sixth of the "
        'bytes; otherwise by the shapes of MuJoCo.',
    )
    agent_state: bool = key(
        False, 'Always send AgentState, not only after a trainer has set battery or temperature.'
    )
    ground_truth: bool = key(False, 'Send agents the true positions (mypos, ballpos).')
    allow_killsim: bool = key(
        False, 'Let monitors stop the gateway, as a menu entry of RoboViz does.'
    )


@dataclass(frozen=True, kw_only=True)
class SimSparkArguments(
    HostArguments, RpcPort, PortOffset, SimSparkSettings, ConnectTimeout, LogLevel
):
    """The arguments of `urlab simspark`."""


def make_gateway(values: SimSparkArguments) -> SimSparkGateway:
    """
    Create the gateway; it is not started.

    :raises CliError: when a package is not installed.
    :raises OpenToAll: when the whole network could send commands without --insecure.
    """
    require('simspark')
    from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
    from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
    from urlab_ros_bridge.gateways.simspark.game.rules import KickOff
    from urlab_ros_bridge.gateways.simspark.referee.referee import read_rules
    from urlab_ros_bridge.gateways.simspark.referee.referee import RefereeOptions
    from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee
    from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkConfig
    from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkGateway

    agents = Agents(
        AgentOptions(
            vision_cycles=values.vision_cycles,
            noise=values.noise,
            seed=values.seed,
            ground_truth=values.ground_truth,
            agent_state=values.agent_state,
            wait_for_syn=values.sync and values.pace != 'live',
        )
    )
    kick_off = KickOff.parse(values.kick_off)
    options = RefereeOptions(kick_off, read_rules(values.rules))
    referee = SoccerReferee(options) if values.referee else None
    return SimSparkGateway(
        SimSparkConfig(
            host=connect_address(values.host),
            rpc_port=values.moved('rpc_port'),
            keys=values.keys,
            bind=values.bind,
            insecure=values.insecure,
            agent_port=values.moved('port'),
            monitor_port=values.moved('monitor_port'),
            pace=values.pace,
            players=values.players,
            nao_meshes=values.nao_meshes,
            log=Path(values.log) if values.log else None,
            allow_killsim=values.allow_killsim,
        ),
        agents,
        referee,
    )


def ready_line(gateway: SimSparkGateway) -> str:
    """Return the line that is printed when clients may connect."""
    robots = ','.join(gateway.robots) or 'none'
    return (
        f'{READY_LINE}: agents={gateway.agent_port} monitors={gateway.monitor_port} '
        f'robots={robots}'
    )


def run(given: ParsedArguments[SimSparkArguments]) -> int:
    """Serve until a signal comes."""
    values = given.values
    logger = set_up_logging(values.log_level)
    gateway = make_gateway(values)
    if not is_loopback(values.bind):
        logger.warning('--insecure: anyone who can reach %s can command the game', values.bind)
    serve_until_signal(
        gateway, values.timeout, lambda: ready_line(gateway), wait_for_end=gateway.wait
    )
    return 0


COMMAND = Command(
    name='simspark',
    summary='Serve a simulation to RoboCup tools (SimSpark protocol).',
    text='Serve a running simulation to tools of the RoboCup 3D league over the SimSpark network\n'
    'protocol: RoboViz shows it, trainers command it, agents play in it. Works with any URLab\n'
    'server and any robots; needs no ROS. Prints "urlab simspark ready" when clients can\n'
    'connect.',
    section=SimSparkArguments,
    run=run,
    handles_signals=True,
    examples=(
        ('urlab simspark', 'agents on port 3100, RoboViz and trainers on 3200'),
        ('urlab simspark --pace free', 'as fast as agents in sync mode allow'),
        ('urlab simspark --log game.log', 'write a log that RoboViz can replay'),
    ),
)
