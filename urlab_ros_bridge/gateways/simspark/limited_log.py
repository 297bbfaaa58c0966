# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A rate limit for log messages that clients can cause."""

from __future__ import annotations

import logging
import time


class LimitedLog:
    """
    Logs at most so many warnings a second and counts the omitted ones.

    :param per_second: at once, and on average.
    """

    def __init__(self, logger: logging.Logger, per_second: int = 5) -> None:
        self._logger = logger
        self._rate = per_second
        self._credit = float(per_second)
        self._last = time.monotonic()
        self._omitted = 0

    def warning(self, text: str, *values: object) -> None:
        """Log a warning, or count it."""
        now = time.monotonic()
        self._credit = min(self._rate, self._credit + (now - self._last) * self._rate)
        self._last = now
        if self._credit < 1.0:
            self._omitted += 1
            return
        self._credit -= 1.0
        if self._omitted:
            text += f' ({self._omitted} earlier messages omitted)'
            self._omitted = 0
        self._logger.warning(text, *values)


__all__ = ['LimitedLog']
