# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The status line at the bottom of `urlab up`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping
import contextlib
from dataclasses import dataclass
import json
import math
import threading
import time
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from urlab_ros_bridge.wire.errors import count_of
from urlab_ros_bridge.wire.errors import UrlabError

PLAIN_SECONDS = 5.0
# Figures that are older than this are not shown (s).
FRESH_SECONDS = 3.5
# A figure beyond this is nonsense and shown as 0.
LARGEST = 1e12
OWN_NAME = 'urlab up'

PERIOD_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0


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


def sessions_text(sessions: object, leave_out: str) -> str:
    """
    Return how many sessions there are and whose, without those of one client.

    >>> sessions_text([{'client': 'a'}, {'client': 'b'}, {'client': 'a'}, {'client': 'me'}], 'me')
    '3 sessions (2 a, b)'
    """
    listed = sessions if isinstance(sessions, list) else []
    names = [str(s.get('client') or 'unnamed') for s in listed if isinstance(s, Mapping)]
    counts = Counter(name for name in names if name != leave_out)
    whose = ', '.join(f'{n} {name}' if n > 1 else name for name, n in sorted(counts.items()))
    return count_of(counts.total(), 'session') + (f' ({whose})' if whose else '')


def server_parts(figures: Figures | None, now: float) -> list[str]:
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


def client_parts(figures: Figures | None, now: float) -> list[str]:
    """Return which clients are connected to the server, from a `status` reply."""
    if figures is None or not figures.fresh(now):
        return []
    cameras = count_of(int(_number(figures.values, 'cameras')), 'camera')
    return [cameras, sessions_text(figures.values.get('sessions'), OWN_NAME)]


def bridge_parts(figures: Figures | None, now: float) -> tuple[list[str], list[str]]:
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

    The most important parts come first; a narrow terminal needs several rows for it.
    """
    rate, trouble = bridge_parts(bridge, now)
    parts = [*server_parts(server, now), *rate, *trouble, *client_parts(server, now)]
    return ''.join(letter if letter.isprintable() else ' ' for letter in ' | '.join(parts))


class Screen:
    """Log lines with a status line below; a plain line now and then where there is no terminal."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """
        Show nothing yet.

        :param console: where everything goes; None: stdout.
        :param clock: monotonic time (s).
        """
        self._console = console or Console(highlight=False)
        self._clock = clock
        self._live: Live | None = None
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._shown = ''
        self._next_plain = -math.inf

    def write_line(self, name: str, line: str) -> None:
        """Write one line of a process above the status line."""
        text = Text.assemble((f'{name:<6}', 'bold'), ' ', Text.from_ansi(line))
        self._console.print(text, soft_wrap=True)

    def show(self, status: str) -> None:
        """Show the status; where there is no terminal, every `PLAIN_SECONDS`."""
        if self._live is not None:
            if status == self._shown:
                return
            self._shown = status
            self._live.start()
            self._live.update(Text(f' {status} ', 'reverse'), refresh=True)
        elif self._clock() >= self._next_plain:
            self._next_plain = self._clock() + PLAIN_SECONDS
            self._console.print(f'status {status}', soft_wrap=True, markup=False)

    def close(self) -> None:
        """Remove the status line."""
        if self._live is not None:
            self._live.stop()


class StatusPoller:
    """
    Requests the status of a server once a second, through a shared session, in its own thread.

    :ivar latest: the newest figures, None before the first; may be read from any thread.
    """

    def __init__(self, host: str, rpc_port: int, keys: str = '') -> None:
        self.latest: Figures | None = None
        self._address = host, rpc_port
        self._keys = keys
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='status', daemon=True)

    def __enter__(self) -> StatusPoller:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop.set()

    def _run(self) -> None:
        from urlab_ros_bridge.client.client import Client

        client = Client(
            *self._address, shared=True, name=OWN_NAME, timeout=TIMEOUT_SECONDS, keys=self._keys
        )
        connected = False
        while not self._stop.is_set():
            with contextlib.suppress(UrlabError):
                # Where sessions cannot be shared, a hello would end that of a user.
                if not connected and client.supports_shared_sessions():
                    client.connect()
                    connected = True
                if connected:
                    self.latest = Figures(client.status().raw, time.monotonic())
            self._stop.wait(PERIOD_SECONDS)
        client.close()
