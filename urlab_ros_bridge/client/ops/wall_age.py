# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The largest age of a command in wall time (extension `wall_timeout`)."""

from __future__ import annotations

from typing import NamedTuple

# The extension of the server.
WALL_TIMEOUT = 'wall_timeout'
# s; a shorter age would refuse commands because a machine is busy.
MIN_WALL_AGE = 0.3


class WallAge(NamedTuple):
    """
    For commands that keep a robot moving, and so need a sender that keeps repeating them.

    :ivar timeout: the server drops the command when time resumes after it was frozen for
        longer than this since the command came (s of wall time).
    :ivar seen: `wall_ns` of the last tick that was received: the server refuses the command
        (`StaleCommand`) when that is longer ago than `timeout`, because the request has waited
        in a queue for so long; None: it does not look.
    """

    timeout: float
    seen: int | None = None

    def fields(self) -> dict[str, float | int]:
        """Return the fields of the request."""
        fields: dict[str, float | int] = {'wall_timeout': float(self.timeout)}
        if self.seen is not None:
            fields['wall_seen'] = int(self.seen)
        return fields


__all__ = ['MIN_WALL_AGE', 'WALL_TIMEOUT', 'WallAge']
