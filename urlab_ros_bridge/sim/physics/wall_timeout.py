# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How long a command outlives whoever gave it, counted by the wall clock (extension `wall_timeout`).

Simulated time cannot tell that a commander is gone while it stands still.  A command with a
`wall_timeout` is dropped when time goes on after it has stood still for longer than that since
the command came.  Pauses between the steps of a slow simulation do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

# s of wall time between two steps from which on time has stood still.
STILL = 0.1


@dataclass(slots=True)
class WallTimeout:
    """
    How long one command may stand still together with simulated time.

    :ivar limit: s.
    :ivar given: when the command came, s by time.monotonic.
    :ivar stood: for how long time has stood still since then, s.
    """

    limit: float
    given: float
    stood: float = 0.0

    def lapsed(self, since: float, until: float) -> bool:
        """Count a stretch of standing still (s by time.monotonic); tell whether it is too much."""
        self.stood += max(0.0, until - max(since, self.given))
        return self.stood > self.limit


__all__ = ['STILL', 'WallTimeout']
