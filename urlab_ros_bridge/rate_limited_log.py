# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rate limits for messages that may repeat in every physics step, or with every connection."""

from __future__ import annotations

import logging
import time


class RateLimitedLog:
    """
    Logs one message per interval and counts the omitted ones.

    :param prefix: put before every message.
    :param interval: seconds of wall time.
    :param ignore: messages that begin like this are not logged at all.
    """

    def __init__(
        self,
        logger: logging.Logger,
        level: int,
        prefix: str = '',
        interval: float = 1.0,
        ignore: tuple[str, ...] = (),
    ) -> None:
        self._logger = logger
        self._level = level
        self._prefix = prefix
        self._interval = interval
        self._ignore = ignore
        self._next = 0.0
        self._left_out = 0

    def __call__(self, message: str) -> None:
        """Log a message, or count it."""
        if message.startswith(self._ignore):
            return
        now = time.monotonic()
        if now < self._next:
            self._left_out += 1
            return
        self._next = now + self._interval
        more = f' ({self._left_out} such messages omitted)' if self._left_out else ''
        self._left_out = 0
        self._logger.log(self._level, '%s%s%s', self._prefix, message, more)
