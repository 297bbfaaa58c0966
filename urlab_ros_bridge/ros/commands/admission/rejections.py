# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that were not carried out, counted and reported."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading
import time

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
