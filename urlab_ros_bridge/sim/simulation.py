# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What outlives a world, and the running simulation, if any.

Sessions, sockets and the data folder belong to the server.  A world with its engine and threads
opens and closes: an editor opens one at `begin_pie` and closes it at `stop_pie` (Protocol
Reference, "hello": `manager_present` is false in between).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import logging
import threading
from typing import Any
from typing import Protocol
from typing import TypeVar
import uuid

from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import ClientModels
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.observe.observer import Observer
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.live import LiveLoop
from urlab_ros_bridge.sim.physics.randomizer import Randomizer
from urlab_ros_bridge.sim.physics.recorder import StateRecorder
from urlab_ros_bridge.sim.physics.replay import Replay
from urlab_ros_bridge.sim.requests.claims import Claims
from urlab_ros_bridge.sim.requests.navigation import NavigationTargets
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.requests.sessions import SessionTable


@dataclass(slots=True)
class StreamCounters:
    """
    What came in on the control stream since the world began.

    :ivar applied: messages of which something was applied.
    :ivar discarded: messages that came in a stepped mode.
    :ivar rejected: messages that are malformed, or that the controller refused.
    :ivar unknown_ids: setpoints for actuators that the articulation of the topic does not have.
    """

    received: int = 0
    applied: int = 0
    discarded: int = 0
    rejected: int = 0
    unknown_ids: int = 0

    def report(self) -> dict[str, int]:
        """Return the block of a `status` reply."""
        return asdict(self)


_LOG = logging.getLogger(__name__)
Made = TypeVar('Made')


class WorldService(Protocol):
    """Something that lives as long as one world: a publisher, a renderer."""

    def close(self) -> None:
        """Stop; the engine drains already and publishes nothing more."""


class SimulationHost:
    """
    Holds at most one running world.

    :ivar client_models: reads the models that clients send.
    :ivar simulation: the running world with its engine and threads; None while there is none.
    :ivar revision: grows whenever another or a changed world begins.
    :ivar changing: held while a changed world is made, so that changes come one by one.
    :ivar settled: not set while one world takes the place of another; requests wait then.
    :ivar draining: the server stops; there will be no further world.
    :ivar e_stop: the e-stop is engaged, in this world and in those that follow.
    :ivar ports: TCP ports that the server listens on, by name.
    :ivar shm: the server's shared memory, None when it offers none.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.sessions = SessionTable()
        self.data = DataFolder(config.data_dir, config.allow_absolute_paths, config.data_limit_gb)
        self.client_models = ClientModels(self.data)
        self.simulation: Simulation | None = None
        self.revision = 0
        self.settled = threading.Event()
        self.settled.set()
        self.draining = False
        self.e_stop = False
        self._e_stop_lock, self._engagements = threading.Lock(), 0
        self.shm: Any = None
        self.ports: dict[str, int] = {}
        self._makers: list[Callable[[Simulation], WorldService]] = []
        self._services: list[WorldService] = []
        self._lock = threading.RLock()
        self.changing = threading.Lock()

    @property
    def shm_dir(self) -> str:
        """Return the session directory in the handshake, '' without shared memory."""
        return str(self.shm.path) if self.shm is not None else ''

    def running(self) -> Simulation:
        """
        Return the running world.

        :raises OpError: no_active_manager, shutting_down.
        """
        if self.simulation is None:
            raise OpError('shutting_down' if self.draining else 'no_active_manager')
        return self.simulation

    def add_service(self, make: Callable[[Simulation], WorldService]) -> None:
        """Call `make(simulation)` for every world that is opened from now on."""
        self._makers.append(make)

    def engage_e_stop(self) -> None:
        """Engage the e-stop; waits for nothing, and takes effect with the next sub-step."""
        with self._e_stop_lock:
            self._engagements += 1
            self.e_stop = True
            if (simulation := self.simulation) is not None:
                simulation.engine.run.engage_e_stop()

    def release_e_stop(self) -> None:
        """Release the e-stop once the robots are stopped; a later engagement takes precedence."""
        engagements, simulation = self._engagements, self.simulation
        with simulation.engine.lock if simulation is not None else nullcontext():
            if simulation is not None:
                simulation.engine.stop_if_due()
            with self._e_stop_lock:
                if engagements == self._engagements:
                    self.e_stop = False
                    if (simulation := self.simulation) is not None:
                        simulation.engine.run.e_stop = False

    def open(self, simulation: Simulation) -> None:
        """
        Start a world: make its services, then start time; sessions restart their step counts.

        :raises RuntimeError: when another world is running.
        """
        with self._lock:
            if self.simulation is not None:
                raise RuntimeError('a world is running already')
            try:
                for make in self._makers:
                    self._services.append(make(simulation))
            except Exception:
                self._close_services()
                raise
            self.sessions.count_steps_from(simulation.engine.clock.counter)
            self.revision += 1
            self._enter(simulation)
            simulation.live.start()

    def replace(
        self, old: Simulation, new: Simulation, carry: Callable[[], None], keep: ServerSession
    ) -> None:
        """
        Replace the running world, which continues until then, by a changed one.

        All sessions but `keep` expire.  Requests that come in between wait, those that have waited
        for the old world answer session_expired.

        :param carry: gives `new` the state of `old`; called with the old engine's lock.  What it
            raises leaves everything as it is.
        :raises OpError: session_expired when `old` no longer runs.
        """
        with self._lock:
            if self.simulation is not old:
                raise OpError('session_expired', 'the world has changed; send hello again')
            self.settled.clear()
            try:
                with old.engine.lock:
                    carry()
                    old.engine.run.replaced = True
                    old.engine.hooks.publish.clear()
                    old.engine.lock.changed.notify_all()
                self._replace_services(old, new)
                self.sessions.expire(self.revision, keep)
            finally:
                self.settled.set()

    def _replace_services(self, old: Simulation, new: Simulation) -> None:
        # The thread may still run: it ends because the engine drains.
        running = old.live.ident is not None
        if running:
            old.live.join(timeout=5.0)
        old.engine.hooks.before_live_step.clear()
        self._close_services()
        for make in self._makers:
            try:
                self._services.append(make(new))
            except Exception:
                # The world continues, as well as it can without this service.
                _LOG.exception('failed to start a service of the changed world')
        self.revision += 1
        self._enter(new)
        if running:
            new.live.start()
        with new.engine.lock:
            new.engine.state_changed()

    def _enter(self, simulation: Simulation) -> None:
        """Make a world the running one; the e-stop holds in it too."""
        with self._e_stop_lock:
            self.simulation = simulation
            if self.e_stop:
                simulation.engine.run.engage_e_stop()

    def close(self) -> None:
        """Stop the world: waiting calls answer `shutting_down`.  Does nothing when none runs."""
        with self._lock:
            simulation, self.simulation = self.simulation, None
            if simulation is None:
                return
            engine = simulation.engine
            engine.run.draining = True
            with engine.lock:
                engine.lock.changed.notify_all()
            if simulation.live.ident is not None:
                simulation.live.join(timeout=5.0)
            with engine.lock:
                engine.hooks.publish.clear()
                engine.hooks.before_live_step.clear()
            self._close_services()

    def _close_services(self) -> None:
        while self._services:
            try:
                self._services.pop().close()
            except Exception:
                _LOG.exception('failed to close a service of the world')


@dataclass(frozen=True, slots=True)
class Simulation:
    """
    The parts of one world.

    `config` and `data` are those of the host and outlive it.

    :ivar run: names this run; a changed world that continues another has its name.
    """

    config: ServerConfig
    world: World
    engine: Engine
    observer: Observer
    live: LiveLoop
    recorder: StateRecorder
    replay: Replay
    data: DataFolder
    cameras: CameraRig
    claims: Claims = field(default_factory=Claims)
    inbound: StreamCounters = field(default_factory=StreamCounters)
    navigation: NavigationTargets = field(default_factory=NavigationTargets)
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    randomizer: Randomizer = field(default_factory=Randomizer)
    _cache: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def cached(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what `make` made of the model; it is remade once the model has changed."""
        revision = self.engine.revision
        found = self._cache.get(name)
        if found is None or found[0] != revision:
            found = self._cache[name] = (revision, make())
        made: Made = found[1]
        return made
