# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The cycle of 20 ms that drives everything.

In each cycle: what clients sent is carried out; the game's time passes and the referee looks at
it; agents get the percepts of the scene, and what they commanded after earlier ones comes into
force; monitors get the scene; time passes.  So an action that answers percept n acts in cycle
n + 1, as in SimSpark.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
import threading
import time

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.viewers import Viewers
from urlab_ros_bridge.gateways.simspark.serving.drives import Drive
from urlab_ros_bridge.gateways.simspark.tcp.server import Event
from urlab_ros_bridge.gateways.simspark.tcp.server import Happening
from urlab_ros_bridge.gateways.simspark.tcp.server import TcpServer
from urlab_ros_bridge.gateways.simspark.trainer.trainers import Trainers
from urlab_ros_bridge.gateways.simspark.world.placement import Teleporter
from urlab_ros_bridge.gateways.simspark.world.roles import AgentSide
from urlab_ros_bridge.gateways.simspark.world.roles import CYCLE
from urlab_ros_bridge.gateways.simspark.world.roles import GameStage
from urlab_ros_bridge.gateways.simspark.world.roles import Referee
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simulation.holder import SimulationHolder
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

AGENT, MONITOR = 'agent', 'monitor'  # the ports

# While a simulation is gone, it is looked for so often (s).
RETRY_SECONDS = 0.5
RETURN_SECONDS = 2.0
# What clients send gets so much of each cycle, even when the next one is due (s).
BUDGET = 0.005
# The longest time without a look at the flag that ends the cycle (s).
_PATIENCE = 0.1
# An agent in sync mode that says nothing holds the others up so long (s).
SYNC_SECONDS = 60.0


class ServedWorld:
    """
    What the gateway makes of a link.

    :ivar scene: of the newest observation.
    """

    def __init__(self, link: SimulationLink, drive: Drive) -> None:
        self.link = link
        self.drive = drive
        self.scene = SimSparkScene(link.handshake)
        self.placement = Teleporter(link, self.scene)

    def close(self) -> None:
        """Leave the server as it was found."""
        self.drive.close()


class Cycle:
    """
    Runs in one thread, in which all roles are called.

    :ivar viewers: the monitors.
    """

    def __init__(
        self,
        server: TcpServer,
        simulation: SimulationHolder[ServedWorld],
        game: GameState,
        agents: AgentSide | None,
        referee: Referee | None,
        *,
        allow_killsim: bool = False,
    ) -> None:
        self._server = server
        self._simulation = simulation
        self._game = game
        self._agents = agents
        self._referee = referee
        self._stopping = threading.Event()
        self.viewers = Viewers(game)
        self._trainers = Trainers(
            self.viewers.request_full_state, self._stopping.set if allow_killsim else None
        )
        self._served: ServedWorld | None = None
        self._targets: Mapping[str, Target] = {}
        self._last_time: float | None = None
        self._last_look = 0.0

    def stop(self) -> None:
        """Let `run` return soon."""
        self._stopping.set()

    def run(self) -> None:
        """Go on until `stop`, whatever the simulation does."""
        while not self._stopping.is_set():
            try:
                self._once()
            except UrlabError as error:
                _LOG.warning('the simulation is not available: %s', error)
                self._find_again()
            except Exception:  # whatever it was, agents and monitors stay served
                _LOG.exception('a cycle failed')
                self._wait(time.monotonic() + RETRY_SECONDS)

    def _once(self) -> None:
        served = self._simulation.current
        if served is None or served.link.is_stale:
            self._find_again()
            return
        if served is not self._served:
            self._begin(served)
        self._wait(served.drive.due)
        self._wait_for_agents()
        self._wait_for_newcomers()
        self._last_look = time.monotonic()
        seen = served.drive.look(self._targets)
        served.scene.update(seen)
        passed = 0.0 if self._last_time is None else seen.time - self._last_time
        if self._last_time is None or passed < 0 or passed >= 0.5 * CYCLE:
            self._last_time = seen.time
            self._turn(served.scene, max(passed, 0.0))
        self.viewers.cycle()
        self._server.refill()

    def _turn(self, scene: SimSparkScene, passed: float) -> None:
        self._game.advance(passed)
        if self._referee is not None:
            self._referee.judge()
        if self._agents is not None:
            self._targets = self._agents.cycle(scene)

    def _begin(self, served: ServedWorld) -> None:
        self._served, self._targets, self._last_time = served, {}, None
        served.scene.update(served.link.forward())
        self._game.rules = self._game.rules.changed(served.scene.numerics())
        self._game.roster.enlist(served.scene.robots)
        if self._game.selected not in list(self._game.roster):
            self._game.select(None)
        stage = GameStage(self._game, served.scene, served.placement)
        for role in (self.viewers, self._trainers, self._referee, self._agents):
            if role is not None:
                role.begin(stage)

    def _find_again(self) -> None:
        """Take the simulation that is there now; until then clients wait."""
        try:
            self._simulation.renew(RETURN_SECONDS)
        except UrlabError as error:
            _LOG.debug('no simulation: %s', error)
            self._wait(time.monotonic() + RETRY_SECONDS)
            self._server.refill()

    def _wait(self, until: float) -> None:
        """Carry out what clients send, until a moment, and hardly longer however much it is."""
        now = time.monotonic()
        latest = max(until, now + BUDGET)
        while not self._stopping.is_set() and now < latest:
            if not self._process_next(min(until - now, _PATIENCE)) and now >= until:
                return
            now = time.monotonic()

    def _process_next(self, patience: float) -> bool:
        """Take what a client has sent, and a command that waits; return whether there was any."""
        busy = self._trainers.is_busy
        event = self._server.next_event(0.0 if busy else patience)
        if event is not None:
            self._carry_out(event)
        if busy:
            self._trainers.work()
        return busy or event is not None

    def _wait_for_agents(self) -> None:
        deadline = time.monotonic() + SYNC_SECONDS
        while self._agents is not None and self._agents.is_waiting:
            if self._stopping.is_set() or time.monotonic() > deadline:
                return
            if not self._process_next(_PATIENCE):
                self.viewers.cycle()
                self._server.refill()

    def _wait_for_newcomers(self) -> None:
        """
        Pass no time faster than in reality while an agent joins.

        An agent says whether it is in sync mode with its first (syn), after percepts that it has
        read.  Until then as many cycles as the machine can do would lie in its socket, old ones in
        front, and what it is told of its robot behind them or nowhere.
        """
        until = self._last_look + CYCLE
        while self._agents is not None and self._agents.is_joining:
            left = until - time.monotonic()
            if left <= 0 or self._stopping.is_set():
                return
            self._process_next(min(left, _PATIENCE))

    def _carry_out(self, event: Event) -> None:
        if event.connection.port == MONITOR:
            self._handle_monitor_event(event)
            return
        side = self._agents
        if side is None:
            return
        if event.happening is Happening.CONNECTED:
            side.connected(event.connection)
        elif event.happening is Happening.DISCONNECTED:
            side.disconnected(event.connection)
        else:
            side.received(event.connection, event.expressions)

    def _handle_monitor_event(self, event: Event) -> None:
        if event.happening is Happening.CONNECTED:
            self.viewers.join(event.connection)
        elif event.happening is Happening.DISCONNECTED:
            self.viewers.leave(event.connection)
        else:
            self._trainers.received(event.connection, event.expressions)


__all__ = ['Cycle', 'ServedWorld']
