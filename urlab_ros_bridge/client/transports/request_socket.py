# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of request sockets over ZeroMQ: with libzmq, and on a plain connection."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol


class RequestSocket(Protocol):
    """
    One request, one reply.  Not thread-safe, except `cancel`.

    A request sent while the server is away waits for it, up to the timeout.
    """

    endpoint: str

    @abstractmethod
    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply.

        :param op: for error messages.
        :param timeout: seconds.
        :raises RequestTimeout: when no reply came in time.
        :raises ConnectionLost: when the connection broke while waiting.
        :raises KeysRejected: when the server lets in others alone.
        """

    @abstractmethod
    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""

    @abstractmethod
    def close(self) -> None:
        """Drop the connection with everything unsent; the next exchange opens a new one."""


__all__ = ['RequestSocket']
