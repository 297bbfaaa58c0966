# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How simulated time advances: by the server's own clock, or by steps of this gateway."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Mapping
import logging
import time

from urlab_ros_bridge.client.errors import NotLive
from urlab_ros_bridge.client.replies.observations import WorldObservation
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.pace import SteppedTime
from urlab_ros_bridge.wire.ops import STATE_PORT
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

_LOG = logging.getLogger(__name__)

# Period of reading the world while time is frozen, that of messages to monitors (s).
_IDLE = 0.04
_FIRST_SECONDS = 2.0


class Pace(ABC):
    """
    Advances time from one cycle to the next.

    :ivar due: when the next observation is due, by `time.monotonic`.
    :cvar owns_time: whether time advances by this gateway's steps only.
    """

    owns_time = False

    def __init__(self, link: SimulationLink) -> None:
        self.link = link
        self.due = time.monotonic()

    @abstractmethod
    def observe(self, targets: Mapping[str, Target]) -> WorldObservation:
        """
        Send setpoints and return the world, a cycle later unless time is frozen.

        :raises UrlabError: when the server refuses or does not answer.
        """

    @abstractmethod
    def close(self) -> None:
        """Restore the server's mode."""


class LivePace(Pace):
    """
    Follows a server whose time advances by itself.

    While another client steps the world (direct and puppet mode), it only watches and sends no
    setpoints.
    """

    def __init__(self, link: SimulationLink, host: str) -> None:
        super().__init__(link)
        self._host = host
        self._stream: StateStream | None = None
        self._last: tuple[float, float] | None = None
        self._rate = 1.0

    def observe(self, targets: Mapping[str, Target]) -> WorldObservation:
        seen = self._step(targets) or self._watch()
        self._schedule(seen.time)
        return seen

    def _step(self, targets: Mapping[str, Target]) -> WorldObservation | None:
        """Command and read a live world; None in another mode, where a step would advance it."""
        if not self.link.only_live and self.link.mode() != 'live':
            return None
        try:
            return self.link.step(targets, live=True)
        except NotLive:
            return None

    def close(self) -> None:
        """End the stream, if there is one."""
        if self._stream is not None:
            self._stream.close()

    def _schedule(self, sim: float) -> None:
        """Schedule the next observation for the end of this cycle of simulated time."""
        now = time.monotonic()
        passed, wall = 0.0, 0.0
        if self._last is not None:
            passed, wall = sim - self._last[0], now - self._last[1]
        self._last = sim, now
        if passed <= 0 or wall <= 0:
            self.due = now + _IDLE
            return
        self._rate += 0.2 * (passed / wall - self._rate)
        # The schedule is absolute in simulated time: a late observation delays no later one.
        missing = CYCLE - sim % CYCLE if passed < 2 * CYCLE else CYCLE
        self.due = now + max(missing, CYCLE / 4) / max(self._rate, 0.05)

    def _watch(self) -> WorldObservation:
        if self._stream is None:
            _LOG.info(
                'another client is stepping the world: it is shown, but agents cannot move robots'
            )
            port = self.link.handshake.ports.get('state') or STATE_PORT
            self._stream = StateStream(self._host, port, [STATE_FULL_TOPIC], keys=self.link.keys)
        tick = self._stream.receive(_FIRST_SECONDS)
        state = None if tick is None else tick.state()
        if state is None:
            raise RobotError('another client is stepping the server, which publishes no state')
        return state


class SteppedPace(Pace):
    """
    Steps a server in direct mode, one cycle at a time: equal commands give equal worlds.

    :param real_time: whether a cycle takes at least the time that it simulates.
    """

    owns_time = True

    def __init__(self, link: SimulationLink, *, real_time: bool) -> None:
        super().__init__(link)
        self._real_time = real_time
        self._time = SteppedTime(link, 1 / CYCLE)

    def observe(self, targets: Mapping[str, Target]) -> WorldObservation:
        seen = self.link.step(targets, self._time.next_steps())
        now = time.monotonic()
        # Of a longer delay, only a few cycles are caught up.
        self.due = max(self.due + CYCLE, now - 5 * CYCLE) if self._real_time else now
        return seen

    def close(self) -> None:
        """Restore the server's mode."""
        self._time.restore()


__all__ = ['LivePace', 'Pace', 'SteppedPace']
