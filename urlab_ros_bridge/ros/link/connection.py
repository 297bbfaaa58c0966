# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The link thread: it connects, watches, and connects again.

The status of the server is requested twice a second.  A restarted server does not know our
session: the shared client then sends another hello.

Three values tell worlds apart: `generation` of the client counts its hellos; `run` of a handshake
names one world from its start to its end; `world_revision` grows whenever that world is changed,
for example by a spawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import threading
import time
from typing import Any
import warnings

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import ModeLockedByServer
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.ops import BRIDGE
from urlab_ros_bridge.client.replies.ops import ServerStatus
from urlab_ros_bridge.client.session import SHARED_SESSION
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.errors import owner_of
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.link.link_state import describe
from urlab_ros_bridge.ros.link.link_state import LinkState
from urlab_ros_bridge.ros.link.link_state import Phase
from urlab_ros_bridge.ros.link.link_state import SLOW_RETRY_SECONDS
from urlab_ros_bridge.ros.link.planner import WorldPlanner
from urlab_ros_bridge.ros.link.stock_cameras import switch_on_cameras
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.from_topics import missing_robot
from urlab_ros_bridge.ros.plan.from_topics import plan_topics
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

# Codes of answers while there is no connection.
NOT_CONNECTED = 'not_connected'
OBSERVE_ONLY = 'observe_only'

STATUS_SECONDS = 0.5
RETRY_SECONDS = 0.2
# A hello carries the compiled model, so it may take longer than a small request.
_HELLO_SECONDS = 5.0
# Topics exist a moment before services can answer: early requests wait this long (s).
READING_SECONDS = 10.0
_WATCH_SECONDS = 1.0
_POLL_SECONDS = 0.1
# A server whose time is frozen sends its wall time ten times a second, so no smaller age (s) of a
# command can be detected.
MIN_WALL_AGE = 0.3


class ServerLink(Part):
    """
    The connection to the server.

    :ivar state: replaced as a whole; read it from any thread.
    :ivar status: last status reply, None on servers without that op.
    :ivar command_client: the session for commands and status; `client` that for services.
        Two sessions where the server supports shared sessions, so that a long step cannot delay a
        command; otherwise the same one, because a second hello would end the first.
    :ivar reconnects: connections made again.
    :ivar continued: the last handshake was of the same run, whose world has changed.
    :ivar on_status: all are called in the link thread with each status, and when it was requested
        (s by time.monotonic).
    :ivar on_new_run: all are called in the link thread when another server, or a restarted one, is
        connected, before its world is published.
    """

    def __init__(self, bridge: Bridge) -> None:
        """Prepare; the thread connects when everything has started."""
        first = bridge.settings(ConnectionParameters)
        self._settings = bridge.settings
        self._stream = bridge.part(StreamThread)
        self._world = bridge.part(CurrentWorld)
        self._log, self._errors = bridge.log, bridge.errors
        self.command_client = make_client(bridge.settings)
        self.client = self.command_client
        self.state = LinkState(
            endpoint=f'tcp://{first.host}:{first.rpc_port}',
            state_endpoint=f'tcp://{first.host}:{first.state_port}',
        )
        self._state_changed, self._overrides = threading.Condition(), 0
        self.status: ServerStatus | None = None
        self.on_status: list[Callable[[ServerStatus, float], None]] = []
        self.on_new_run: list[Callable[[], None]] = []
        self.handshake: Handshake | None = None
        self.reconnects, self.continued = 0, False
        self._observed_epoch = -1
        self._generation, self._stepping = 0, bridge.stepping
        self._is_shared = True  # the server has shared sessions, so that a hello ends no other
        self._stop, self._woken = threading.Event(), threading.Event()
        self._planner = WorldPlanner(bridge.settings, self._stream, self._stop, bridge.log)
        self._thread = threading.Thread(target=self._run, name='link', daemon=True)
        bridge.on_started.append(self._thread.start)

    def stop(self) -> None:
        """End the thread and the sessions."""
        self._stop.set()
        self._woken.set()
        with self._state_changed:
            self._state_changed.notify_all()
        for client in {self.client, self.command_client}:
            client.close()
        self._thread.join(3.0)

    @property
    def commands(self) -> Client:
        """The old name of `command_client`."""
        warnings.warn('link.commands is link.command_client', DeprecationWarning, stacklevel=2)
        return self.command_client

    def check_now(self) -> None:
        """Check the server at once: something is known to have changed."""
        self._woken.set()

    def has(self, extension: str) -> bool:
        """Return whether the server has an extension of the protocol."""
        return self.handshake is not None and extension in self.handshake.extensions

    @property
    def is_reading(self) -> bool:
        """Return whether the world is being read: in a moment services can answer."""
        state = self.state
        return state.phase is Phase.PREPARING and not state.problem and not self._stop.is_set()

    def wait_while_reading(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Wait until the world is read, for a while; in a thread that nothing else waits for."""
        self.wait_for(lambda: not self.is_reading or give_up(), READING_SECONDS)

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until something holds that changes with `state`; it is also polled."""
        deadline = time.monotonic() + seconds
        with self._state_changed:
            while not condition() and time.monotonic() < deadline and not self._stop.is_set():
                self._state_changed.wait(_POLL_SECONDS)

    def connected_client(self) -> Client:
        """
        Return the client for services; requests continue while another world is being read.

        :raises RequestRejected: when there is no connection, with what to do about it.
        """
        if not self.state.connected and not self.is_reading:
            raise self.rejection()
        return self.client

    def describe(self) -> tuple[bool, str]:
        """Return whether all is well with the connection, and its state in words."""
        return describe(self.state, self._stream.silence, self._stepping.in_lockstep)

    def rejection(self) -> RequestRejected:
        """Return why there is no client for services, and what to do about it."""
        if self.state.phase is Phase.OBSERVING:
            return RequestRejected(
                OBSERVE_ONLY, 'the bridge sends no requests (parameter observe_only)'
            )
        return RequestRejected(NOT_CONNECTED, self.describe()[1])

    def wall_age(self, timeout: float) -> WallAge | None:
        """
        Return how old a command that is sent now may become by the wall clock; None: any age.

        In lockstep only answering nodes drive, so wall time must not count there.

        :param timeout: s, 0: none; at least `MIN_WALL_AGE` counts.
        """
        if timeout <= 0 or self._stepping.in_lockstep or not self.has('wall_timeout'):
            return None
        return WallAge(max(timeout, MIN_WALL_AGE), self._stream.counters.wall_ns)

    def open_session(self, purpose: str) -> Client:
        """
        Return a client with its own session; where there can be one only, that one.

        Its requests go through shared memory where the server offers it: that is fastest for one
        request after the other.

        :raises ClientError: when the server does not open one.
        """
        if not self.has(SHARED_SESSION):
            return self.command_client
        client = make_client(self._settings, f'{BRIDGE} {purpose}')
        client.connect(_HELLO_SECONDS)
        return client

    def record_mode(self, mode: str) -> None:
        """Remember the mode that a reply reports."""
        self._override_status(mode=mode)

    def record_paused(self, paused: bool) -> None:
        """Remember whether a reply reports a pause."""
        self._override_status(paused=paused)

    def _override_status(self, **changes: Any) -> None:
        """Change the state; a status that was requested before must not undo it."""
        with self._state_changed:
            self._overrides += 1
            self._change_state(**changes)

    def _change_state(self, **changes: Any) -> None:
        with self._state_changed:
            self.state = replace(self.state, **changes)
            self._state_changed.notify_all()

    def _run(self) -> None:
        observes = self._settings(ConnectionParameters).observe_only
        work = self._observe if observes else self._connect_or_check
        while not self._stop.is_set():
            try:
                work()
            except RequestTimeout as error:
                self._on_timeout(str(error))
            except SessionExpired as error:
                self._on_expired_session(str(error))
            except UrlabError as error:
                self._on_error(error)
            except Exception as error:
                # Retry after any error: the thread must never end without a report.
                self._on_error(error)
            self._wait()

    def _wait(self) -> None:
        """Wait until the server is to be checked, or connected to, again."""
        state = self.state
        observing = state.phase is Phase.OBSERVING
        if state.phase is Phase.REFUSED or (observing and state.problem):
            self._stop.wait(SLOW_RETRY_SECONDS)
            return
        self._woken.wait(STATUS_SECONDS if state.connected or observing else RETRY_SECONDS)
        self._woken.clear()

    def _on_error(self, error: Exception) -> None:
        """Report an error; where a hello may end the session of others, do not repeat it soon."""
        if self._stop.is_set():
            return
        text = str(error) if isinstance(error, UrlabError) else f'{type(error).__name__}: {error}'
        is_unreadable = isinstance(error, UnreadableHandshake)
        if is_unreadable or not (self._generation or self._is_shared):
            self._refuse(text)
        else:
            self._report_problem(text)

    def _refuse(self, text: str) -> None:
        """Leave a server alone for a while; log that once."""
        if self.state.phase is not Phase.REFUSED or text != self.state.problem:
            self._log('error', f'{text}; trying again every {SLOW_RETRY_SECONDS:g} s')
        self._change_state(phase=Phase.REFUSED, problem=text)

    def _connect_or_check(self) -> None:
        """Connect when there is no session; else check the server."""
        if not self._generation:
            self._connect()
        elif self.state.phase is not Phase.TAKEN:
            self._check_server()
        if self.command_client.generation != self._generation:
            self._prepare_world(self.command_client.handshake)
        elif self.state.phase is Phase.LOST:
            self._log('info', f'connected to {self.state.endpoint} again')
            self._change_state(phase=Phase.CONNECTED, problem='')

    def _connect(self) -> None:
        self._is_shared = True  # asking is harmless
        is_shared = self.command_client.supports_shared_sessions()
        if not is_shared and not self.reconnects and self.state.phase is not Phase.REFUSED:
            self._log(
                'warning',
                'this server allows only one session, and the bridge takes it; set '
                'observe_only to leave it to another client',
            )
        self._is_shared = is_shared
        self.command_client.connect(_HELLO_SECONDS)

    def _check_server(self) -> None:
        self._change_state(asking=True)
        self._read_status()
        self._change_state(asking=False)

    def _read_status(self) -> None:
        if self.has('status'):
            overrides, requested = self._overrides, time.monotonic()
            self.status = status = self.command_client.status()
            known = self.command_client.handshake.raw.get('world_revision', status.world_revision)
            if known != status.world_revision:
                self.command_client.connect(_HELLO_SECONDS)  # an editor has begun another world
            with self._state_changed:
                if overrides == self._overrides:
                    self._change_state(mode=status.mode, paused=status.paused)
            self._change_state(pinned=status.pinned)
            for take in self.on_status:
                with self._errors.caught(owner_of(take)):
                    take(status, requested)
        elif self._stream.silence > _WATCH_SECONDS or self.state.phase is Phase.LOST:
            self.command_client.get_contacts(max_contacts=1)

    def _prepare_world(self, handshake: Handshake) -> None:
        """Set the mode, plan the topics of the world, and publish them."""
        again = self._generation > 0
        self._generation = self.command_client.generation
        run = handshake.raw.get('run')
        before, self.handshake = self.handshake, handshake
        known = before is not None and run is not None and run == before.raw.get('run')
        self.continued = again and known
        if not handshake.manager_present:
            self._generation = 0
            report = self._report_problem if self._is_shared else self._refuse
            report('the server has no world yet')
            return
        self._change_state(phase=Phase.PREPARING, problem='')
        self._open_service_session(handshake)
        if not self._is_shared:
            switch_on_cameras(self.command_client, handshake, self._log)
        if not self.continued:
            self._change_state(mode=self._set_mode())
        try:
            old_plan = self._world.plan if self.continued else None
            plan, problem = self._planner.plan(handshake, old_plan), ''
        except UnknownName as error:
            plan, problem = WorldPlan(), str(error)
            self._log('warning', problem)
        if self._stop.is_set():
            return  # to publish a world takes long where others compute
        # A thread that sees the state connected must also see the plan.
        self.reconnects += again and not self.continued
        if not self.continued:
            for forget in self.on_new_run:
                with self._errors.caught(owner_of(forget)):
                    forget()
        world, has_sim_time = self._world, 'sim_time_row' in handshake.extensions
        world.take(plan, handshake, has_sim_time=has_sim_time, problem=problem)
        robots = world.plan.robots
        self._change_state(phase=Phase.CONNECTED, problem=world.problem, robots=len(robots))
        names = ', '.join(robot.prefix for robot in robots) or 'none'
        what = 'the world has changed' if self.continued else f'connected to {self.state.endpoint}'
        self._log('info', f'{what}, robots: {names}')

    def _open_service_session(self, handshake: Handshake) -> None:
        """Give services their own session, where that takes no other client's session away."""
        if SHARED_SESSION not in handshake.extensions:
            self.client = self.command_client
        elif self.client is self.command_client:
            self.client = make_client(self._settings)
            self.client.connect(_HELLO_SECONDS)

    def _set_mode(self) -> str:
        if (
            self._settings(ConnectionParameters).step_mode != 'keep'
            and not self._stepping.in_lockstep
        ):
            try:
                return self.command_client.set_mode('live').current
            except ModeLockedByServer as error:
                self._log('info', f'the server keeps its mode: {error}')
        return self.command_client.status().mode if self.has('status') else self.state.mode

    def _observe(self) -> None:
        """
        Subscribe only: plan from the received topics.

        This is repeated after every jump of time, and while robots are missing.
        """
        self._change_state(phase=Phase.OBSERVING)
        timeline, world = self._stream.timeline, self._world
        if world.plan.robots and not self.state.problem and timeline.epoch == self._observed_epoch:
            return
        rows = self._planner.discover()
        self._observed_epoch = timeline.epoch
        if not rows:
            return
        plan = plan_topics(rows, self._settings)
        if plan != world.plan:
            world.take(plan, None, has_sim_time=self._stream.counters.closed_by == 'sim_time')
            self._change_state(robots=len(world.plan.robots))
            self._observed_epoch += 1  # a new plan begins an epoch itself
        missing = missing_robot(rows, self._settings)
        self._report_problem(world.problem or ('' if missing is None else str(missing)))

    def _on_timeout(self, text: str) -> None:
        phase = self.state.phase
        if phase is Phase.CONNECTED:
            self._log('warning', f'lost the server at {self.state.endpoint}: {text}')
            phase = Phase.LOST
        elif phase in (Phase.PREPARING, Phase.REFUSED):
            phase = Phase.CONNECTING
        self.status = None
        self._change_state(phase=phase, asking=False, problem=text)

    def _on_expired_session(self, text: str) -> None:
        """Come back to a restarted server, but never fight another client for its session."""
        if self.state.phase is Phase.LOST or self._stream.silence > _WATCH_SECONDS:
            try:
                self.command_client.connect(_HELLO_SECONDS)
            except RequestTimeout as error:
                self._on_timeout(str(error))
            except UrlabError as error:
                self._on_error(error)
        elif self.state.phase is not Phase.TAKEN:
            self._log('warning', f'another client has taken the session: {text}')
            self._change_state(phase=Phase.TAKEN, problem=text)

    def _report_problem(self, text: str) -> None:
        if text and text != self.state.problem:
            self._log('warning', text)
        self._change_state(problem=text)


def make_client(settings: SettingsReader, name: str = BRIDGE) -> Client:
    """Return a client of the server that the settings name; it is not connected yet."""
    server = settings(ConnectionParameters)
    return Client(
        server.host,
        server.rpc_port,
        state_port=server.state_port,
        shared=True,
        name=name,
        timeout=server.rpc_timeout,
        keys=server.keys,
        raise_on_divergence=False,  # /diagnostics and the log report it
    )


FEATURE = Feature('connection', ConnectionParameters, group='Connection', attach=ServerLink)
