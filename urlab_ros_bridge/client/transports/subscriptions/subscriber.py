# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What every way to receive the messages of a PUB socket is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

Message = list[bytes | memoryview]


class Subscriber(Protocol):
    """
    A SUB socket for one publisher, to which it connects again when it must.  Not thread-safe.

    What it is not asked for waits on the way; a publisher drops what finds no room there.
    """

    @abstractmethod
    def take(self) -> Message | None:
        """Return the parts of a message; None when there is none now."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Sleep until `take` may have something, at most so long."""

    @abstractmethod
    def close(self) -> None:
        """End the connection; nothing is received any more."""


__all__ = ['Message', 'Subscriber']
