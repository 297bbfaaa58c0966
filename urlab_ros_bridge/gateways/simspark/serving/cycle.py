# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The cycle of 20 ms that drives everything, in one thread.

In each cycle: commands of clients are executed; the game's time passes and the referee evaluates
the scene; agents receive the percepts of the scene, and their earlier commands take effect;
monitors receive the scene; time passes.  So an action that answers percept n acts in cycle n + 1,
as in SimSpark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
import logging
import threading
import time

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.connections import Ports
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee
from urlab_ros_bridge.gateways.simspark.serving.paces import Pace
from urlab_ros_bridge.gateways.simspark.trainer import Trainers
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.gateways.simspark.world.stage import Teleporter
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

AGENT, MONITOR = 'agent', 'monitor'  # the ports

# Without a simulation, the pause between attempts to connect and the time of each (s).
RETRY_SECONDS = 0.5
RETURN_SECONDS = 2.0
# The share of each cycle for commands of clients, even when the next one is due (s).
BUDGET = 0.005
# The pause between observations of the world while time is frozen (s).
_FROZEN_SECONDS = 0.01
# While agents are waited for, monitors are served this often (s).
_PATIENCE = 0.1
# The longest time that a silent agent in sync mode delays the others (s).
SYNC_SECONDS = 60.0


class SimSparkWorld:
    """
    A connected simulation: its link, pace and scene.

    :ivar scene: of the newest observation.
    """

    def __init__(self, link: SimulationLink, pace: Pace) -> None:
        self.link = link
        self.pace = pace
        self.scene = SimSparkScene(link.handshake)
        self.placement = Teleporter(link, self.scene)

    def close(self) -> None:
        """Restore the server's mode."""
        self.pace.close()


class Cycle:
    """
    Calls all roles, and serves the ports between the steps.

    :ivar viewers: the monitors.
    """

    def __init__(
        self,
        ports: Ports,
        simulation: SimulationConnection[SimSparkWorld],
        game: GameState,
        agents: Agents,
        referee: SoccerReferee | None,
        *,
        allow_killsim: bool = False,
        players_join: bool = False,
        nao_meshes: bool = True,
    ) -> None:
        self._ports = ports
        self._simulation = simulation
        self._game = game
        self._agents = agents
        self._referee = referee
        self._players_join = players_join
        self._stopping = threading.Event()
        self.viewers = Viewers(game, nao_meshes=nao_meshes)
        self._trainers = Trainers(self.viewers, self.stop if allow_killsim else None)
        self._world: SimSparkWorld | None = None
        self._targets: Mapping[str, Target] = {}
        self._last_time: float | None = None
        self._observed_at = 0.0

    def stop(self) -> None:
        """End `run` soon; from any thread."""
        self._stopping.set()
        self._ports.interrupt()

    async def run(self) -> None:
        """Run until `stop`, whatever the simulation does."""
        await self._ports.start({MONITOR: self._trainers, AGENT: self._agents})
        while not self._stopping.is_set():
            try:
                await self._once()
            except UrlabError as error:
                _LOG.warning('the simulation is not available: %s', error)
                await self._reconnect()
            except Exception:  # agents and monitors are served after any error
                _LOG.exception('a cycle failed')
                await self._ports.serve(time.monotonic() + RETRY_SECONDS, BUDGET)
        await self._ports.stop()

    async def _once(self) -> None:
        world = self._simulation.current
        if world is None or world.link.is_stale:
            await self._reconnect()
            return
        if world is not self._world:
            self._begin(world)
        await self._ports.serve(world.pace.due, BUDGET)
        if self._is_time_frozen(world):
            world.scene.update(world.link.forward())
            self._advance(world.scene, 0.0, frozen=True)
            self.viewers.cycle()
            await self._ports.wait(_FROZEN_SECONDS)
            return
        await self._wait_for_agents()
        self._observed_at = time.monotonic()
        seen = world.pace.observe(self._targets)
        world.scene.update(seen)
        passed = 0.0 if self._last_time is None else seen.time - self._last_time
        if self._last_time is None or passed < 0 or passed >= 0.5 * CYCLE:
            self._last_time = seen.time
            self._advance(world.scene, max(passed, 0.0))
        self.viewers.cycle()

    def _is_time_frozen(self, world: SimSparkWorld) -> bool:
        """Return whether the game waits for agents, in a world that this gateway steps."""
        if self._referee is None:
            return False
        return self._referee.is_waiting_for(self._agents.ready) and world.pace.owns_time

    def _advance(self, scene: SimSparkScene, passed: float, *, frozen: bool = False) -> None:
        self._game.advance(passed)
        if self._referee is not None:
            self._referee.judge()
        if frozen:
            self._agents.on_time_frozen(scene)
        else:
            self._targets = self._agents.cycle(scene)

    def _begin(self, world: SimSparkWorld) -> None:
        self._world, self._targets, self._last_time = world, {}, None
        self._game.roster.by_joining = self._players_join and world.scene.has_field
        world.scene.update(world.link.forward())
        self._game.rules = self._game.rules.changed(world.scene.numerics)
        self._game.roster.enlist(world.scene.robots)
        if self._game.selected not in list(self._game.roster):
            self._game.select(None)
        stage = GameStage(self._game, world.scene, world.placement)
        for role in (self.viewers, self._trainers, self._referee, self._agents):
            if role is not None:
                role.begin(stage)
        if self._is_time_frozen(world):
            # A game begins at the same time in the same state, however long agents take to join.
            world.scene.update(world.link.reset())

    async def _reconnect(self) -> None:
        """Reconnect to the simulation; clients wait until then."""
        try:
            await asyncio.to_thread(self._simulation.renew, RETURN_SECONDS)
        except UrlabError as error:
            _LOG.debug('no simulation: %s', error)
            await self._ports.serve(time.monotonic() + RETRY_SECONDS, BUDGET)

    async def _wait_for_agents(self) -> None:
        """
        Wait for agents in sync mode, and let no time pass faster than in reality while one joins.

        An agent shows that it is in sync mode by its first (syn), in answer to percepts.  Without
        the second limit, percepts of as many cycles as the machine can compute would fill its
        socket until then.
        """
        agents = self._agents
        deadline = time.monotonic() + SYNC_SECONDS
        while not self._stopping.is_set():
            now = time.monotonic()
            joined = self._observed_at + CYCLE if agents.is_joining else now
            if not (agents.is_waiting and now < deadline) and now >= joined:
                return
            if not self._ports.turn():
                await self._ports.wait(min(joined - now, _PATIENCE) if joined > now else _PATIENCE)
                if agents.is_waiting:
                    self.viewers.cycle()


__all__ = ['Cycle', 'SimSparkWorld']
