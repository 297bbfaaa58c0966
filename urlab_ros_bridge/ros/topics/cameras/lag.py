# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How late an image is, by two clocks that may differ."""

from __future__ import annotations

import math

# Seconds; after a clock step, delays are trusted again after two windows.
WINDOW = 5.0


class Lag:
    """
    Compares the delay of each image with the shortest recent delay.

    Capture times are by the wall clock of the server, which may differ from the local one and may
    be set; so only a delay above the usual one counts.
    """

    def __init__(self) -> None:
        self._before = self._least = math.inf
        self._next = -math.inf

    def of(self, captured: float, now: float) -> float:
        """
        Return the delay of an image above the shortest recent one (s).

        :param captured: by the server's wall clock, unix s.
        :param now: by the monotonic clock here, s.
        """
        took = now - captured
        if now >= self._next:
            self._next = now + WINDOW
            self._before, self._least = self._least, math.inf
        self._least = min(self._least, took)
        return took - min(self._least, self._before)
