# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A log that clients cannot flood."""

from __future__ import annotations

import logging
import threading
import time


class LimitedLog:
    """
    Logs a limited number of messages a second and counts the omitted ones.  Thread-safe.

    :param per_second: messages on average; `burst` at once.
    """

    def __init__(self, logger: logging.Logger, per_second: float = 1.0, burst: int = 5) -> None:
        self._logger = logger
        self._rate = per_second
        self._burst = burst
        self._lock = threading.Lock()
        self._credit = float(burst)
        self._last = time.monotonic()
        self._omitted = 0

    def info(self, text: str, *values: object) -> None:
        """Log a message, or count it."""
        self._log(logging.INFO, text, values)

    def warning(self, text: str, *values: object) -> None:
        """Log a warning, or count it."""
        self._log(logging.WARNING, text, values)

    def error(self, text: str, *values: object) -> None:
        """Log an error, or count it."""
        self._log(logging.ERROR, text, values)

    def _log(self, level: int, text: str, values: tuple[object, ...]) -> None:
        with self._lock:
            now = time.monotonic()
            self._credit = min(self._burst, self._credit + (now - self._last) * self._rate)
            self._last = now
            if self._credit < 1.0:
                self._omitted += 1
                return
            self._credit -= 1.0
            omitted, self._omitted = self._omitted, 0
        if omitted:
            text += f' ({omitted} earlier messages omitted)'
        self._logger.log(level, text, *values)


__all__ = ['LimitedLog']
