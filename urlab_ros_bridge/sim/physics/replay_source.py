# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of a source that replaces physics, such as a replay."""

from __future__ import annotations

from typing import Any
from typing import Protocol


class ReplaySource(Protocol):
    """A source of states.  While one is the engine's, steps show its frames."""

    def advance(self, count: int, deadline: float) -> None:
        """
        Show the next `count` frames, fewer at the end.  Needs the engine's lock.

        :param deadline: time.monotonic at which the step has to be done.
        :raises OpError: step_timeout at the deadline, shutting_down when the server drains.
        """

    def report(self) -> dict[str, Any]:
        """Return the extension block of a step reply."""
