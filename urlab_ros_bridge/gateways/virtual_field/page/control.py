# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which page commands the simulation: one at a time, until it releases control or is idle."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage

# A page that sends no command for this long (s) loses control to the next one that does.
IDLE_SECONDS = 20.0


class ControlLock:
    """
    The right to command, shared by the pages of one simulation.  Thread-safe.

    A page takes free control by its first command.  While another page has it, commands are
    refused; a page may ask for control, which its holder sees, or take it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._holder = ''
        self._used = 0.0
        self._requests: list[str] = []

    def use(self, name: str) -> None:
        """
        Record a command of a page.

        :param name: of its session.
        :raises BadMessage: when another page has control.
        """
        with self._lock:
            now = self._clock()
            if self._holder not in ('', name) and now - self._used < IDLE_SECONDS:
                raise BadMessage(f'{self._holder} has control: request it, or take it')
            self._hold(name, now)

    def take(self, name: str) -> None:
        """Give control to a page, whoever has it."""
        with self._lock:
            self._hold(name, self._clock())

    def request(self, name: str) -> None:
        """Record a request for control, which the holder sees; without a holder, grant it."""
        with self._lock:
            if self._holder in ('', name):
                self._hold(name, self._clock())
            elif name not in self._requests:
                self._requests.append(name)

    def release(self, name: str) -> None:
        """Release control held by a page, and withdraw its request."""
        with self._lock:
            if name in self._requests:
                self._requests.remove(name)
            if self._holder == name:
                self._holder = ''

    def describe(self) -> dict[str, Any]:
        """Return the holder ('' while control is free) and the pages that have requested it."""
        with self._lock:
            if self._clock() - self._used >= IDLE_SECONDS:
                self._holder = ''
            return {'holder': self._holder, 'requests': list(self._requests)}

    def _hold(self, name: str, now: float) -> None:
        self._holder, self._used = name, now
        if name in self._requests:
            self._requests.remove(name)


__all__ = ['IDLE_SECONDS', 'ControlLock']
