# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A rate-limited log for messages that clients can cause."""

from __future__ import annotations

import logging
import time


class LimitedLog:
    """
    Passes so many lines a second on and counts the others for the next line.

    :param per_second: lines at once, and on average.
    """

    def __init__(self, logger: logging.Logger, per_second: int = 5) -> None:
        self._logger = logger
        self._rate = per_second
        self._credit = float(per_second)
        self._last = time.monotonic()
        self._left_out = 0

    def warning(self, text: str, *values: object) -> None:
        """Log a warning, if it is its turn."""
        now = time.monotonic()
        self._credit = min(self._rate, self._credit + (now - self._last) * self._rate)
        self._last = now
        if self._credit < 1.0:
            self._left_out += 1
            return
        self._credit -= 1.0
        if self._left_out:
            text += f' ({self._left_out} earlier messages omitted)'
            self._left_out = 0
        self._logger.warning(text, *values)


__all__ = ['LimitedLog']
