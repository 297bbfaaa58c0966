# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Detects late camera images, even when the clocks of the two machines differ."""

from __future__ import annotations

import math

# s; a clock that was set is believed again after two of them.
WINDOW = 5.0


class Lag:
    """
    Holds the way of each picture against the shortest way of the last pictures.

    The server says by its own wall clock when it captured a picture.  Machines differ in their
    clocks, and clocks are set; so only what is longer than usual counts.
    """

    def __init__(self) -> None:
        self._before = self._least = math.inf
        self._next = -math.inf

    def of(self, captured: float, now: float) -> float:
        """
        Return by how much later (s, 0 or more) than the quickest of late a picture is here.

        :param captured: by the server's wall clock, unix s.
        :param now: by the monotonic clock here, s.
        """
        took = now - captured
        if now >= self._next:
            self._next = now + WINDOW
            self._before, self._least = self._least, math.inf
        self._least = min(self._least, took)
        return took - min(self._least, self._before)


__all__ = ['WINDOW', 'Lag']
