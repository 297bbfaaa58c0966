# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of subscribers, which receive the messages of a PUB socket."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic
from typing import Protocol
from typing import TypeVar

Message = list[bytes | memoryview]
Taken = TypeVar('Taken', covariant=True)


class Subscriber(Protocol, Generic[Taken]):
    """
    A SUB socket for one publisher, to which it connects again when it must.  Not thread-safe.

    What it is not asked for waits on the way; a publisher drops what finds no room there.
    """

    @abstractmethod
    def take(self) -> Taken | None:
        """Return a message, or what else this takes at a time; None when there is none now."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Sleep until `take` may have something, at most so long."""

    @abstractmethod
    def subscribe(self, topic: bytes) -> None:
        """Also receive messages that begin with this."""

    @abstractmethod
    def unsubscribe(self, topic: bytes) -> None:
        """Undo one `subscribe`."""

    @abstractmethod
    def close(self) -> None:
        """End the connection; nothing is received any more."""


__all__ = ['Message', 'Subscriber', 'Taken']
