# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What arrived on the control stream, counted."""

from __future__ import annotations

from dataclasses import asdict
from dataclasses import dataclass


@dataclass(slots=True)
class StreamCounters:
    """
    What came in on the control stream since the world began.

    :ivar applied: messages of which something was applied.
    :ivar discarded: messages that came in a stepped mode.
    :ivar rejected: messages that are malformed, or that the controller refused.
    :ivar unknown_ids: setpoints for actuators that the articulation of the topic does not have.
    """

    received: int = 0
    applied: int = 0
    discarded: int = 0
    rejected: int = 0
    unknown_ids: int = 0

    def report(self) -> dict[str, int]:
        """Return the block of a `status` reply."""
        return asdict(self)


__all__ = ['StreamCounters']
