# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The SimSpark gateway: two ports, a simulation, and the thread of the cycle."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
import logging
from pathlib import Path
import threading

from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.connections import Ports
from urlab_ros_bridge.gateways.simspark.errors import OpenToAll
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.messages import LogFile
from urlab_ros_bridge.gateways.simspark.monitor.viewers import LOG_PERIOD
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee
from urlab_ros_bridge.gateways.simspark.serving.cycle import AGENT
from urlab_ros_bridge.gateways.simspark.serving.cycle import Cycle
from urlab_ros_bridge.gateways.simspark.serving.cycle import MONITOR
from urlab_ros_bridge.gateways.simspark.serving.cycle import SimSparkWorld
from urlab_ros_bridge.gateways.simspark.serving.paces import LivePace
from urlab_ros_bridge.gateways.simspark.serving.paces import Pace
from urlab_ros_bridge.gateways.simspark.serving.paces import SteppedPace
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.wire.addresses import is_loopback

_LOG = logging.getLogger(__name__)

AGENT_PORT = 3100
MONITOR_PORT = 3200
CLIENT_NAME = 'urlab_simspark'
PACES = ('live', 'real_time', 'free')
PLAYERS = ('auto', 'joined', 'all')


@dataclass(frozen=True, slots=True)
class SimSparkConfig:
    """
    Settings of a gateway.

    :ivar host: of the URLab server.
    :ivar keys: folder of keys for that server, '' where it needs none.
    :ivar insecure: whether any client may connect when `bind` is wider than loopback.
    :ivar agent_port, monitor_port: 0 is any free one.
    :ivar pace: ``live``: the server's own time; ``real_time``: the gateway steps the world, in
        real time; ``free``: the same, as fast as the machine and agents in sync mode allow.
    :ivar log: file that RoboViz can replay.
    :ivar players: which robots of a soccer field are players: ``joined``, those of agents (others
        stand far away); ``all``; ``auto``: ``joined`` when the gateway steps the world, else
        ``all``, as other clients may use the robots.
    :ivar nao_meshes: whether monitors see the Nao by the meshes that they have of it.
    :ivar allow_killsim: whether a monitor may end the gateway.
    :raises OpenToAll: when `bind` is wider than loopback without `insecure`.
    """

    host: str = '127.0.0.1'
    rpc_port: int = 5559
    keys: str = ''
    bind: str = '127.0.0.1'
    insecure: bool = False
    agent_port: int = AGENT_PORT
    monitor_port: int = MONITOR_PORT
    pace: str = 'live'
    log: Path | None = None
    players: str = 'auto'
    nao_meshes: bool = True
    allow_killsim: bool = False

    def __post_init__(self) -> None:
        if not (self.insecure or is_loopback(self.bind)):
            raise OpenToAll(self.bind)


class SimSparkGateway:
    """
    Serves one simulation to agents and monitors.

    :ivar game: the state of the game; read it in the thread of the cycle only.
    """

    def __init__(
        self,
        config: SimSparkConfig,
        agents: Agents,
        referee: SoccerReferee | None = None,
    ) -> None:
        """Prepare; nothing is bound before `start`."""
        self.config = config
        self.game = GameState()
        self._ports = Ports(
            config.bind,
            {AGENT: config.agent_port, MONITOR: config.monitor_port},
            {
                AGENT: '--port (launch: simspark_port)',
                MONITOR: '--monitor-port (launch: monitor_port)',
            },
        )
        self._simulation = SimulationConnection(
            lambda: SimulationLink(config.host, config.rpc_port, CLIENT_NAME, config.keys),
            self._make_world,
            lambda: None,  # the cycle notices that its requests fail
        )
        self._cycle = Cycle(
            self._ports,
            self._simulation,
            self.game,
            agents,
            referee,
            allow_killsim=config.allow_killsim,
            nao_meshes=config.nao_meshes,
            players_join=config.players == 'joined'
            or (config.players == 'auto' and config.pace != 'live'),
        )
        self._log: LogFile | None = None
        # Not join(): Python 3.11 regards a thread as ended when a signal has interrupted its join.
        self._ended = threading.Event()
        self._ended.set()

    def start(self, timeout: float = 10.0) -> None:
        """
        Connect to the simulation and listen.

        :param timeout: seconds to wait for the simulation.
        :raises PortTaken: when another program has a port.
        :raises LogNotWritable: when the log of the settings cannot be written.
        :raises UrlabError: when there is no simulation.
        """
        self._ports.bind()
        try:
            if self.config.log is not None:
                self._log = LogFile(self.config.log)
            self._simulation.take(timeout)
        except BaseException:
            self._ports.unbind()
            raise
        if self._log is not None:
            self._cycle.viewers.join(self._log, LOG_PERIOD)
        self._ended.clear()
        threading.Thread(target=self._run, name='simspark-cycle', daemon=True).start()

    @property
    def agent_port(self) -> int:
        """Return the bound port of the agents."""
        return self._ports.number(AGENT)

    @property
    def monitor_port(self) -> int:
        """Return the bound port of monitors and trainers."""
        return self._ports.number(MONITOR)

    @property
    def robots(self) -> list[str]:
        """Return the prefixes of the robots of the simulation."""
        world = self._simulation.current
        return [] if world is None else list(world.scene.robots)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the cycle has ended; return whether it has."""
        return self._ended.wait(timeout)

    def stop(self) -> None:
        """End all connections and release the simulation; safe to call twice."""
        self._cycle.stop()
        self.wait()
        self._ports.unbind()
        self._simulation.release()
        if self._log is not None:
            self._log.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._cycle.run())
        finally:
            self._ended.set()

    def _make_world(self, link: SimulationLink) -> SimSparkWorld:
        return SimSparkWorld(link, self._pace(link))

    def _pace(self, link: SimulationLink) -> Pace:
        if self.config.pace == 'live':
            return LivePace(link, self.config.host)
        return SteppedPace(link, real_time=self.config.pace == 'real_time')


__all__ = ['AGENT_PORT', 'MONITOR_PORT', 'PACES', 'PLAYERS', 'SimSparkConfig', 'SimSparkGateway']
