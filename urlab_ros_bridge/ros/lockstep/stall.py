# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Detects that the bridge was suspended while it waited: answers may be lost."""

from __future__ import annotations

import math
import time

# Other processes may take one for dead that was suspended this long (s of wall time).
STALL_SECONDS = 5.0
REPEAT_SECONDS = 1.0
REPETITIONS = 30


class Stall:
    """
    When to repeat an instant because this process was suspended while it waited.

    During that time DDS elsewhere takes it for dead, so the answer may be lost.  Both sides need a
    while to discover each other again, so the instant is repeated more than once.
    """

    def __init__(self) -> None:
        self._last_call = time.monotonic()
        self._left = 0
        self._next = math.inf

    def repeat_now(self, now: float) -> bool:
        """Return whether to repeat it; call it regularly (s by time.monotonic)."""
        last, self._last_call = self._last_call, now
        if now - last > STALL_SECONDS:
            self._left, self._next = REPETITIONS, now + REPEAT_SECONDS
        if not self._left or now < self._next:
            return False
        self._left, self._next = self._left - 1, now + REPEAT_SECONDS
        return True
