# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway's link to a URLab server: one session for commands, one for observations."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
import logging
import time

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.client import STEP_WHILE_LIVE
from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.ops import MIN_WALL_AGE
from urlab_ros_bridge.client.ops import WALL_TIMEOUT
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.session import SHARED_SESSION
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.motion.target import Twist
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.wire.divergence import Divergence

_LOG = logging.getLogger(__name__)

# Extension of a server that renders in live mode, in metres with 0 for the background.
LIVE_CAMERAS = 'live_cameras'
# Extension of a server that takes setpoints without a step.
SETPOINTS = 'setpoints'
# Extension of a server that ends a velocity command that is not repeated.
TWIST_TIMEOUT = 'twist_timeout'
RENDERER_SECONDS = 30.0
# An image may take long on a busy machine without a graphics card.
TIMEOUT = 10.0


class SimulationLink:
    """
    Two sessions with a running server, so that a command never waits for an image.

    Requests are thread-safe.  The link belongs to one life of the server: after a restart it
    is stale, and a new one takes its place (`SimulationConnection`).

    :ivar handshake: of `connect`.
    :ivar is_lost: whether its server has ended.
    :ivar keys: of the streams of this server.
    """

    def __init__(self, host: str, rpc_port: int, client_name: str, keys: KeySource = None) -> None:
        self.is_lost = False
        # Unix time of the server minus our monotonic time (ns), at its last reply.
        self._clock_offset: int | None = None
        self._divergence: Divergence | None = None  # the last one logged
        self.endpoint = f'tcp://{host}:{rpc_port}'
        self.keys = read_client_keys(keys)
        self._make_client = partial(
            Client,
            host,
            rpc_port,
            shared=True,
            name=client_name,
            timeout=TIMEOUT,
            keys=self.keys,
            raise_on_divergence=False,  # replies show it
        )
        self._commands, self._queries = self._make_client(), self._make_client()

    def connect(self, timeout: float = TIMEOUT) -> None:
        """
        Open both sessions.

        :raises RequestTimeout: when no server answers.
        :raises RobotError: when the server runs no world.
        """
        self._commands.timeout = timeout
        if not self._commands.supports_shared_sessions():
            self._take_the_session()
        self.handshake: Handshake = self._commands.connect(timeout)
        if self._queries is not self._commands:
            self._queries.connect(timeout)
        self._commands.timeout = TIMEOUT
        if not self.handshake.manager_present:
            raise RobotError('the server is not running a world')
        self._generations = self._count_handshakes()

    def _take_the_session(self) -> None:
        """Use the one session of a stock server for everything."""
        _LOG.warning(
            'this server does not support shared sessions: the gateway takes the session from its '
            'owner, and commands wait for camera images'
        )
        self._queries.close()
        self._commands.shared = False
        self._queries = self._commands

    def give_up(self) -> None:
        """Fail every request at once, running ones too: the server has ended."""
        self.is_lost = True
        self.close()

    def close(self) -> None:
        """End both sessions."""
        self._commands.close()
        self._queries.close()

    def was_restarted(self) -> bool:
        """
        Return whether the server is another one than that of `connect`.

        :raises RequestTimeout: when it does not answer, though it has not ended.
        """
        if SHARED_SESSION in self.handshake.extensions and not self.is_lost:
            try:
                self._commands.status()  # an unknown session says hello again
            except (ConnectionLost, NotConnected):
                return True  # the server ended just now, or its watch has closed this link
        return self.is_stale

    @property
    def is_stale(self) -> bool:
        """Return whether the server has ended, or a new hello was needed, since `connect`."""
        return self.is_lost or self._count_handshakes() != self._generations

    def _count_handshakes(self) -> tuple[int, int]:
        # Either session may be the first to notice a restart.
        return self._commands.generation, self._queries.generation

    @property
    def timestep(self) -> float:
        """Return the seconds of one simulation step."""
        return self.handshake.timestep or float(self.handshake.model.opt.timestep)

    @property
    def commands(self) -> Client:
        """Return the session for commands, for requests that have no method here."""
        return self._commands

    @property
    def queries(self) -> Client:
        """Return the session for observations and other queries, whose requests may take long."""
        return self._queries

    @contextmanager
    def separate_session(self) -> Iterator[Client]:
        """Open a session for a request of seconds, such as a large file: others must not wait."""
        if self._queries is self._commands:  # a stock server has no other
            yield self._commands
            return
        client = self._make_client()
        with client:
            yield client

    def step(
        self,
        targets: Mapping[str, Target] | None = None,
        n_steps: int = 1,
        *,
        raw: Collection[str] = (),
        cameras: Mapping[str, str] | None = None,
        observations: str = 'standard',
        live: bool = False,
    ) -> StepResult:
        """
        Command setpoints; in direct mode the world advances by `n_steps`.

        :param targets: prefix -> setpoint; twists are not sent, see `set_twist`.
        :param raw: prefixes whose controls bypass the controller of the articulation.
        :param cameras: name -> ``sync`` or ``latest``.
        :param observations: level of detail of the reply: ``minimal``, ``standard``, ``full``.
        :param live: only in live mode, see `only_live`.
        :raises NotLive: with `live`, in another mode.
        :raises UrlabError: when the server refuses or does not answer.
        """
        ctrl = {prefix: target.ctrl for prefix, target in (targets or {}).items() if target.ctrl}
        return self._note_clock(
            self._commands.step(
                n_steps,
                ctrl_map=ctrl or None,
                control_mode=dict.fromkeys(raw, 'raw') if raw else None,
                observations=observations,
                include_cameras=dict(cameras) if cameras else None,
                while_live=live and self.only_live,
                timeout=TIMEOUT,
            )
        )

    def set_setpoints(self, prefix: str, ctrl: Mapping[str, float]) -> None:
        """
        Send setpoints that take effect without a step, in any mode.

        A stock server accepts them with a step only, so they require a live world.

        :raises UrlabError: when the server refuses or does not answer.
        """
        if SETPOINTS in self.handshake.extensions:
            self._commands.set_setpoints(prefix, ctrl)
        else:
            self._commands.step(ctrl_map={prefix: dict(ctrl)}, timeout=TIMEOUT)

    def set_twist(
        self, prefix: str, twist: Twist, timeout: float, *, by_wall_clock: bool = True
    ) -> None:
        """
        Command the velocity of a mobile base; the server ends it after `timeout` simulated s.

        A stock server has no timeout: there it ends with the next command.

        :param by_wall_clock: whether it ends by the wall clock too: while time is frozen, and when
            the request waits at a stopped server.  False where only commands advance time.
        :raises StaleCommand: when the request has waited for too long.
        """
        vx, vy, yaw = twist
        self._commands.set_twist(
            prefix,
            (vx, vy, 0.0),
            (0.0, 0.0, yaw),
            timeout=timeout if TWIST_TIMEOUT in self.handshake.extensions else None,
            wall=self._wall_age(timeout) if by_wall_clock else None,
        )

    def _wall_age(self, timeout: float) -> WallAge | None:
        """
        Return the largest age of a command sent now; None where the server does not support it.

        Its last clock value may be old when the robot is at rest, so our own monotonic
        clock counts on from there.
        """
        if WALL_TIMEOUT not in self.handshake.extensions:
            return None
        offset = self._clock_offset
        seen = None if offset is None else offset + time.monotonic_ns()
        return WallAge(max(timeout, MIN_WALL_AGE), seen)

    def _note_clock(self, seen: StepResult) -> StepResult:
        if seen.wall_time_ns is not None:
            self._clock_offset = seen.wall_time_ns - time.monotonic_ns()
        return self._log_divergence(seen)

    def _log_divergence(self, seen: StepResult) -> StepResult:
        """Log that the simulation became unstable, once for each time."""
        if seen.divergence is not None and seen.divergence != self._divergence:
            self._divergence = seen.divergence
            _LOG.error('%s', seen.divergence)
        return seen

    def observe(
        self, cameras: Mapping[str, str], observations: str = 'standard', *, live: bool = True
    ) -> StepResult:
        """
        Return state and images of a live world, of one and the same step.

        :param live: only in live mode, see `only_live`; in direct mode the world advances.
        """
        return self._log_divergence(
            self._queries.step(
                observations=observations,
                include_cameras=dict(cameras) if cameras else None,
                while_live=live and self.only_live,
                timeout=TIMEOUT,
            )
        )

    def state(self) -> StepResult:
        """Return the state of a live world."""
        return self._note_clock(self._commands.step(while_live=self.only_live))

    def forward(self) -> StepResult:
        """Return the state without a step, in any mode."""
        return self._commands.forward()

    def warm_up(self, cameras: Mapping[str, str]) -> None:
        """
        Wait until the server renders: its renderer starts with the first request.

        :raises RobotError: when it sends no images.
        """
        if not cameras or LIVE_CAMERAS not in self.handshake.extensions:
            return
        deadline = time.monotonic() + RENDERER_SECONDS
        while True:
            missing = set(cameras) - set(self.observe(cameras, live=False).cameras)
            if not missing:
                return
            if time.monotonic() > deadline:
                raise RobotError(
                    f'the server sent no images of {", ".join(sorted(missing))} within '
                    f'{RENDERER_SECONDS:g} s; "urlab doctor" checks its rendering'
                )
            time.sleep(0.2)

    def reset(
        self,
        keyframe: str = '',
        seed: int = 0,
        positions: Mapping[str, Mapping[str, float]] | None = None,
    ) -> StepResult:
        """
        Reset the world.

        :param keyframe: empty for that of the server.
        :param positions: prefix -> joint -> position (rad, m) that differs from the keyframe.
        :raises UnknownKeyframe: nothing was reset.
        """
        return self._commands.reset(keyframe or None, seed, positions)

    @property
    def only_live(self) -> bool:
        """
        Return whether the server refuses what is for live mode alone in another mode.

        Other servers would advance a world that another client is stepping.
        """
        return STEP_WHILE_LIVE in self.handshake.extensions

    def mode(self) -> str:
        """
        Return how time passes: ``live``, ``direct`` or ``puppet``.

        A stock server does not report it; it counts as live.
        """
        if SHARED_SESSION not in self.handshake.extensions:
            return 'live'
        return self._commands.status().mode

    def use_mode(self, mode: str) -> str:
        """
        Switch the server's mode; return the previous one.

        :raises RobotError: when the mode is pinned to another.
        """
        if SHARED_SESSION in self.handshake.extensions:  # otherwise there is no status
            before = self._commands.status().mode
            if before == mode:
                return before
        try:
            return self._commands.set_mode(mode).previous
        except RemoteError as error:
            raise RobotError(f'this pace needs the server in {mode} mode: {error}') from error


__all__ = ['LIVE_CAMERAS', 'TIMEOUT', 'SimulationLink']
