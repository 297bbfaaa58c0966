# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Detects that the bridge was suspended while it waited: answers may be lost."""

from __future__ import annotations

import math
import time

# Other processes believe that one which stood still for so long (s of wall time) may have died.
STALL_SECONDS = 5.0
REPEAT_SECONDS = 1.0
REPETITIONS = 30


class Stall:
    """
    When an instant is to be repeated because this process stood still while it waited.

    Meanwhile DDS elsewhere takes it for dead, and drops what it sends: the answer may be lost.  It
    takes a while until both sides know each other again, so it is repeated more than once.
    """

    def __init__(self) -> None:
        self._looked = time.monotonic()
        self._left = 0
        self._next = math.inf

    def repeat_now(self, now: float) -> bool:
        """Return whether to repeat it; to be called all the time (s by time.monotonic)."""
        looked, self._looked = self._looked, now
        if now - looked > STALL_SECONDS:
            self._left, self._next = REPETITIONS, now + REPEAT_SECONDS
        if not self._left or now < self._next:
            return False
        self._left, self._next = self._left - 1, now + REPEAT_SECONDS
        return True


__all__ = ['REPEAT_SECONDS', 'REPETITIONS', 'STALL_SECONDS', 'Stall']
