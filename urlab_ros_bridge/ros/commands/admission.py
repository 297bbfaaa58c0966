# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of commands (finite, within limits, recent), and counts of those rejected."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import math
import threading
import time
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS


class CommandRejected(UrlabError):
    """
    A command is not carried out; the message gives the reason.

    :ivar lasting: whether every command of the topic will be rejected.
    """

    def __init__(self, text: str, lasting: bool = False) -> None:
        super().__init__(text)
        self.lasting = lasting


class Velocity(NamedTuple):
    """A velocity of the base in its own frame: m/s and rad/s, three slots each."""

    linear: tuple[float, float, float]
    angular: tuple[float, float, float]


STOP = Velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def limited(
    linear: Sequence[float], angular: Sequence[float], max_linear: float, max_angular: float
) -> Velocity:
    """
    Scale a velocity into the limits, keeping its direction; 0: no limit.

    :raises CommandRejected: for NaN or infinity.
    """
    if not all(map(math.isfinite, (*linear, *angular))):
        raise CommandRejected(f'velocity {tuple(linear)}, {tuple(angular)} is not finite')
    return Velocity(_scaled(linear, max_linear), _scaled(angular, max_angular))


def _scaled(vector: Sequence[float], limit: float) -> tuple[float, float, float]:
    x, y, z = vector
    length = math.hypot(x, y, z)
    if limit <= 0 or length <= limit:
        return float(x), float(y), float(z)
    # Not `limit / length`: a huge vector has an infinite length, and must not become NaN.
    largest = max(abs(x), abs(y), abs(z))
    x, y, z = x / largest, y / largest, z / largest
    factor = limit / math.hypot(x, y, z)
    return x * factor, y * factor, z * factor


def staleness(info: Mapping[str, Any], limit: float) -> str:
    """
    Return why a message is stale, empty when it is not, by the wall clock of its sender.

    :param info: what rclpy knows of the message.
    :param limit: s; 0: nothing is stale.
    """
    source_ns = info.get('source_timestamp') or 0
    if limit <= 0 or source_ns <= 0:
        return ''
    age = (time.time_ns() - source_ns) / NANOSECONDS
    if abs(age) <= limit:
        return ''
    when = f'{abs(age):.2f} s {"ago" if age > 0 else "in the future"}'
    return (
        f'it was published {when} by the clock of its sender, command_max_age is {limit:g} s: it '
        'is stale, or the clocks of the two machines differ (synchronise them, or set '
        'command_max_age to 0)'
    )


def check_age(stamp_ns: int, now_ns: int | None, max_age: float) -> None:
    """
    Reject a command whose stamp is far from simulation time and from the wall clock.

    :param stamp_ns: of the command; 0: it has none and is accepted.
    :param now_ns: simulation time, None when it is not known.
    :param max_age: s; 0: everything is accepted.
    :raises CommandRejected: when it is too old, or from the future.
    """
    if not stamp_ns or max_age <= 0:
        return
    by_wall_clock = (time.time_ns() - stamp_ns) / NANOSECONDS
    if abs(by_wall_clock) <= max_age:
        return
    if now_ns is None:
        raise CommandRejected('simulation time is not known yet')
    age = (now_ns - stamp_ns) / NANOSECONDS
    if age > max_age:
        raise CommandRejected(f'stamp is {age:.3f} s old, cmd_vel_max_age is {max_age:g} s')
    if -age <= max_age:
        return
    advice = 'does its sender have use_sim_time set?'
    if abs(by_wall_clock) < -age:
        away = f'{abs(by_wall_clock):.3f} s {"behind" if by_wall_clock > 0 else "ahead of"}'
        advice = f'by the wall clock it is {away} this machine; {advice}'
    raise CommandRejected(f'stamp is {-age:.3f} s ahead of simulation time; {advice}')


_QUIET_SECONDS = 5.0


class Rejections:
    """
    Counts refused commands by topic, and logs each kind at most every five seconds.

    A reason that holds for every command of its topic is logged once.

    :ivar counts: topic -> number of refused commands.
    :ivar last: topic -> why the last one was refused.
    """

    def __init__(self, log: Callable[[str, str], None]) -> None:
        self.counts: dict[str, int] = {}
        self.last: dict[str, str] = {}
        self._log = log
        self._logged: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, topic: str, error: Exception) -> None:
        """Count a refused command; may be called from any thread."""
        now = time.monotonic()
        with self._lock:
            self.counts[topic] = self.counts.get(topic, 0) + 1
            self.last[topic] = str(error)
            quiet = now - self._logged.get(topic, -_QUIET_SECONDS) < _QUIET_SECONDS
            if not quiet:
                lasting = getattr(error, 'lasting', False)
                self._logged[topic] = math.inf if lasting else now
        if not quiet:
            self._log('warning', f'{topic} refused: {error}')
