# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The line of live figures at the bottom of `urlab up`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
import json
import math
import shutil
import time
from typing import Any
from typing import TextIO

from urlab_ros_bridge.wire.errors import count_of

PLAIN_SECONDS = 5.0
REDRAW_SECONDS = 0.25
# Figures that are older than this are not shown (s).
FRESH_SECONDS = 3.5
# A figure beyond this is nonsense and shown as 0.
LARGEST = 1e12
OWN_NAME = 'urlab up'

_CLEAR_LINE = '\r\x1b[2K'
_INVERSE, _BOLD, _PLAIN = '\x1b[7m', '\x1b[1m', '\x1b[0m'


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one side at one moment; `taken` is monotonic time (s)."""

    values: Mapping[str, Any]
    taken: float

    def fresh(self, now: float) -> bool:
        """Return whether the figures are still true enough to show."""
        return now - self.taken <= FRESH_SECONDS


def parse_figures(line: str, now: float) -> Figures | None:
    """Return the figures of one JSON line of the bridge, None when it is no JSON object."""
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return Figures(values, now) if isinstance(values, dict) else None


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < LARGEST else 0.0


def session_words(sessions: object, leave_out: str) -> str:
    """
    Return how many sessions there are and whose, without those of one client.

    >>> session_words([{'client': 'a'}, {'client': 'b'}, {'client': 'a'}, {'client': 'me'}], 'me')
    '3 sessions (2 a, b)'
    """
    listed = sessions if isinstance(sessions, list) else []
    names = [str(s.get('client') or 'unnamed') for s in listed if isinstance(s, Mapping)]
    counts = Counter(name for name in names if name != leave_out)
    whose = ', '.join(f'{n} {name}' if n > 1 else name for name, n in sorted(counts.items()))
    return count_of(counts.total(), 'session') + (f' ({whose})' if whose else '')


def pace_words(figures: Figures | None, now: float) -> list[str]:
    """Return how the simulation runs, from a `status` reply: mode, real-time factor, ticks."""
    if figures is None:
        return ['server: starting']
    if not figures.fresh(now):
        return ['server: not responding']
    values = figures.values
    mode = str(values.get('mode') or 'mode unknown')
    if values.get('paused'):
        mode += ', paused'
    if values.get('divergence'):
        mode += ', unstable since the last reset'
    speed = _number(values, 'speed')
    factor = f'{_number(values, "real_time_factor"):.2f}x real time'
    if speed and speed != 100.0:
        factor += f' (set to {speed:g} %)'
    ticks = f'{_number(values, "tick_rate"):.0f} ticks/s'
    return [f'{values.get("world") or "world"}: {mode}', factor, ticks]


def company_words(figures: Figures | None, now: float) -> list[str]:
    """Return which clients are connected to the server, from a `status` reply."""
    if figures is None or not figures.fresh(now):
        return []
    cameras = count_of(int(_number(figures.values, 'cameras')), 'camera')
    return [cameras, session_words(figures.values.get('sessions'), OWN_NAME)]


def bridge_words(figures: Figures | None, now: float) -> tuple[list[str], list[str]]:
    """Return the bridge's rate and its trouble, if any, from a line of its status pipe."""
    if figures is None or not figures.fresh(now):
        return ['ROS: starting' if figures is None else 'ROS: bridge not reporting'], []
    values = figures.values
    rate = [f'{_number(values, "messages_per_s"):.0f} ROS messages/s']
    if _number(values, 'ticks_per_s') and not _number(values, 'messages_per_s'):
        # Topics without subscribers are not published; unexplained, the 0 looks like a fault.
        rate = ['0 ROS messages/s (no subscriber)']
    state = str(values.get('state') or '')
    # Of a connection as it should be, the server's part says all there is to say.
    well = values.get('connected') and state in ('', 'connected', 'connected: live')
    return rate, [] if well else [state or 'not connected']


def status_text(server: Figures | None, bridge: Figures | None, now: float) -> str:
    """
    Return the whole status line, without any decoration or control character.

    The numbers come first: a narrow terminal cuts the line.
    """
    rate, trouble = bridge_words(bridge, now)
    words = [*pace_words(server, now), *rate, *company_words(server, now), *trouble]
    return ''.join(letter if letter.isprintable() else ' ' for letter in ' | '.join(words))


class Screen:
    """
    Log lines above, one status line below; on anything but a terminal a plain line now and then.

    :param stream: where all goes.
    :param clock: monotonic seconds, for tests.
    """

    def __init__(self, stream: TextIO, clock: Any = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._status = ''
        self._drawn = -math.inf

    def write_line(self, name: str, line: str) -> None:
        """Write one line of a process above the status line."""
        if self._live:
            self._write(f'{_CLEAR_LINE}{_BOLD}{name:<6}{_PLAIN} {line}\n')
            self._draw()
        else:
            self._write(f'{name:<6} {line}\n')

    def show(self, status: str) -> None:
        """Show the status, not more often than the kind of stream allows."""
        period = REDRAW_SECONDS if self._live else PLAIN_SECONDS
        now = self._clock()
        if now - self._drawn < period:
            return
        self._drawn = now
        self._status = status
        if self._live:
            self._draw()
        else:
            self._write(f'status {status}\n')

    def close(self) -> None:
        """Take the status line away."""
        if self._live and self._status:
            self._write(_CLEAR_LINE)
        self._status = ''

    def _draw(self) -> None:
        if self._status:
            # One column stays free: a full line would wrap and could not be cleared.
            text = self._status[: shutil.get_terminal_size().columns - 3]
            self._write(f'{_CLEAR_LINE}{_INVERSE} {text} {_PLAIN}')

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
