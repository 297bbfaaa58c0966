# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One way to command a robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Command:
    """
    One way to command one robot: a base class whose methods do nothing.

    Messages and goals arrive in the executor's thread, ticks in the stream's.
    """

    @property
    def active(self) -> bool:
        """Whether ticks must hold the state of the joints."""
        return False

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """
        Continue the active commands.

        :param joints: positions, velocities and efforts of all joints, None without them.
        """

    def drop(self, reason: str) -> None:
        """Abort goals and send nothing more for them: setpoints cannot be sent."""

    def halt(self, reason: str) -> None:
        """Stop the robot: the e-stop is engaged."""
        self.drop(reason)

    def jump(self, reason: str) -> None:
        """Stop the robot and forget active commands: they belong to another time."""
        self.drop(reason)

    def close(self) -> None:
        """Withdraw actions and publishers after the robot was removed."""
