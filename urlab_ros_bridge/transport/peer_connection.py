# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""TCP connections that libzmq serves, by their descriptors: what they have received, their end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import socket as sockets
import struct

import zmq

_BYTES_RECEIVED = slice(128, 136)  # of struct tcp_info
_DROP = struct.pack('ii', 1, 0)
_DESCRIPTOR = int(zmq.SRCFD)


@dataclass(frozen=True, slots=True)
class PeerConnection:
    """
    The TCP connection that a message came by.

    :ivar descriptor: libzmq's; once the connection has ended, it may be that of another one.
    :ivar peer: address of the other end, which distinguishes the two.
    """

    descriptor: int
    peer: object

    @classmethod
    def of(cls, frame: zmq.Frame) -> PeerConnection | None:
        """Return the connection of a received part, None when it has ended already."""
        return cls.of_descriptor(descriptor_of(frame))

    @classmethod
    def of_descriptor(cls, descriptor: int) -> PeerConnection | None:
        """Return the connection that has a descriptor, None when none has."""
        try:
            with _borrowed(descriptor) as socket:
                return cls(descriptor, socket.getpeername())
        except (OSError, ValueError):
            return None

    def bytes_received(self) -> int:
        """Return how many bytes have arrived, 0 when the connection has ended."""
        try:
            with _borrowed(self.descriptor) as socket:
                info = socket.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, 136)
        except (OSError, ValueError):
            return 0
        return int.from_bytes(info[_BYTES_RECEIVED], 'little')

    def end(self) -> None:
        """Shut it down, unless it has ended; libzmq then drops what it holds of it."""
        try:
            with _borrowed(self.descriptor) as socket:
                if socket.getpeername() == self.peer:
                    # What its peer has not read is dropped with it.
                    socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, _DROP)
                    socket.shutdown(sockets.SHUT_RDWR)
        except (OSError, ValueError):
            pass  # it has ended


def descriptor_of(frame: zmq.Frame) -> int:
    """Return the descriptor of the connection that a part came by, -1 when it is no TCP."""
    try:
        return int(frame.get(_DESCRIPTOR))
    except zmq.ZMQError:
        return -1


@contextmanager
def _borrowed(descriptor: int) -> Iterator[sockets.socket]:
    """Use a descriptor of libzmq; a copy would need one more, and there may be none left."""
    socket = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM, 0, descriptor)
    try:
        yield socket
    finally:
        socket.detach()
