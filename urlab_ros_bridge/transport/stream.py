# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Streams: what a server publishes, received in one thread while another one may close them."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
import contextlib
import math
import socket
import threading
import time
from typing import Generic
from typing import Self
from typing import TypeVar

from urlab_ros_bridge.transport.errors import StreamClosed
from urlab_ros_bridge.transport.subscriber import Subscriber

T = TypeVar('T')
_LONGEST_WAIT = 60.0  # s
_WAKES = 4096  # that are taken at once
_CLOSE_SECONDS = 1.0


class Stream(ABC, Generic[T]):
    """
    Items in the order of arrival; a subclass says where they come from.

    :ivar endpoint: names the source in messages.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._closed = self._is_woken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def receive(self, timeout: float | None = None) -> T | None:
        """
        Return the next item, None when none came in time or before `wake`.

        :param timeout: seconds; 0 only polls, None waits forever.
        :raises StreamClosed: after `close`, also when it is called while this waits.
        :raises StreamEnded: of shared memory, when the server has ended and no new one is known.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._lock:
            while True:
                if self._closed:
                    self._close_source()
                    raise StreamClosed(self.endpoint)
                found = self._next()
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if left <= 0 or self._is_woken:
                    self._is_woken = False
                    return None
                self._wait(left)

    def close(self) -> None:
        """End the stream; a `receive` that waits in another thread raises `StreamClosed`."""
        self._closed = True
        self._wake()
        if self._lock.acquire(timeout=_CLOSE_SECONDS):
            self._close_source()
            self._lock.release()

    def wake(self) -> None:
        """Make a `receive` that waits in another thread, or else the next one, return at once."""
        self._is_woken = True
        self._wake()

    @abstractmethod
    def _next(self) -> T | None:
        """Return the next item if there is one."""

    @abstractmethod
    def _wait(self, seconds: float) -> None:
        """Sleep until something may have arrived, at most this long."""

    @abstractmethod
    def _close_source(self) -> None:
        """Close what items come from; may be called twice."""

    def _wake(self) -> None:
        """End a `_wait` of another thread soon, if it does not by itself."""


class SubscriberStream(Stream[T]):
    """A stream over ZeroMQ; it reconnects automatically."""

    def __init__(self, endpoint: str, subscriber: Subscriber) -> None:
        super().__init__(endpoint)
        self._subscriber = subscriber
        # What is written to the second ends a wait of the first.
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)

    def _wait(self, seconds: float) -> None:
        if self._subscriber.wait(min(seconds, _LONGEST_WAIT), self._woken):
            self._woken.recv(_WAKES)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it is woken already, or closed
            self._waker.send(b'\0')

    def _close_source(self) -> None:
        self._subscriber.close()
        self._woken.close()
        self._waker.close()
