# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Connection events of a ZMQ socket, read so that other sockets of the process never block.

libzmq's thread, which serves every socket of the process, writes these events, and it waits
forever for a reader: when there is none any more, or when two thousand events are unread.  So the
queue has no limit here, and the end of the reader is always the end of the socket before it,
also when nobody has closed them.
"""

from __future__ import annotations

from itertools import count
import struct
import weakref

import zmq

_numbers = count()
# The first of an event's two frames: its number and its value.  `zmq.utils.monitor`, which reads
# it too, imports asyncio.
_EVENT = struct.Struct('=Hi')


class ConnectionEvents:
    """
    The events of a socket; they end together.

    :ivar socket: to be used by one thread at a time, until `close`.
    """

    def __init__(self, socket: zmq.Socket[bytes], events: int) -> None:
        """
        Begin to listen; call it before the socket is connected.

        :param events: some of zmq.EVENT_*.
        """
        self.socket = socket
        # Numbers of descriptors, as pyzmq takes them for names, are used again.
        address = f'inproc://urlab-events-{next(_numbers)}'
        self._reader: zmq.Socket[bytes] = socket.context.socket(zmq.PAIR)
        self._reader.rcvhwm = 0
        socket.monitor(address, events)
        self._reader.connect(address)
        self._end = weakref.finalize(self, _end, socket, self._reader)
        self._end.atexit = False

    def poll(self, timeout: int | None) -> bool:
        """Wait for an event (ms, None: forever); return whether there is one."""
        return bool(self._reader.poll(timeout))

    def waits(self) -> bool:
        """Return whether there is an event; a poll would cost more."""
        return bool(int(self._reader.get(zmq.EVENTS)) & zmq.POLLIN)

    def take(self) -> int:
        """Return the next event, one of zmq.EVENT_*."""
        event, _ = _EVENT.unpack(self._reader.recv_multipart()[0])
        return int(event)

    def forget(self) -> None:
        """Drop all events so far."""
        while self.waits():
            self._reader.recv_multipart()

    def stop(self) -> None:
        """Have no more events written; what was written can still be read."""
        self.socket.disable_monitor()

    def close(self) -> None:
        """Close the socket, and what reads its events."""
        self._end()


def _end(socket: zmq.Socket[bytes], reader: zmq.Socket[bytes]) -> None:
    if not socket.closed:
        socket.disable_monitor()
        socket.close(0)
    reader.close(0)


__all__ = ['ConnectionEvents']
