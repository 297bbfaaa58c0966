# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a PUB socket sends on one connection, cut into messages; without the socket.

Parts of some size come straight into memory of their own, so they are copied once, by the system.
Everything here is total: any bytes give messages or a `WireError`, and sizes are checked before
memory is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic
from typing import Protocol

from urlab_ros_bridge.client.transports.subscriptions.subscriber import Message
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Taken
from urlab_ros_bridge.wire import zmtp

PUBLISHERS = ('PUB', 'XPUB')
SMALL = 1 << 13  # bytes; a larger part has memory of its own
# Makes writable memory of so many bytes.
Memory = Callable[[int], memoryview]


class Reader(Protocol, Generic[Taken]):
    """
    Reads one connection.

    ::

        reader.filled(socket.recv_into(reader.room()))
        while (taken := reader.next()) is not None: ...

    :ivar ready: the greeting and READY of the publisher have come.
    :ivar answers: what is to be sent to it.
    :ivar missing: bytes that are missing to what is taken next, if it is like before.
    """

    ready: bool
    answers: bytearray

    @property
    def missing(self) -> int: ...

    def subscribe(self, topics: tuple[bytes, ...]) -> None:
        """Leave out messages whose first part begins with none of these from now on."""

    def room(self) -> memoryview:
        """Return where the next bytes that come are to be put, as many as there are."""

    def filled(self, count: int) -> None:
        """Note that so many bytes were put into the room."""

    def next(self) -> Taken | None:
        """
        Take what is complete; None when nothing is.

        :raises FrameTooLarge: a message is larger than the limit; as soon as that is known.
        :raises BadPeer: it is not what a PUB socket sends.
        """


class PublisherReader:
    """What all readers are made of, see `Reader`."""

    def __init__(self, limit: int, memory: Memory, small: int = SMALL) -> None:
        """
        Begin; there are no subscriptions yet.

        :param limit: of a message, in bytes.
        :param memory: makes the memory of large parts.
        :param small: bytes; a larger part is a large one.
        """
        self.ready = False
        self.answers = bytearray()
        self._topics: tuple[bytes, ...] = ()
        self._limit = limit
        self._memory = memory
        self._small = small
        self._greeted = False
        # Bytes that have come, but for those that belong to the body.
        self._bytes = bytearray(2 * small)
        self._scratch = memoryview(self._bytes)
        self._begin = self._end = 0
        # Of the frame that is being read, when its body is large.
        self._body: memoryview | None = None
        self._filled = 0
        self._flags = 0
        self._parts: Message = []
        self._size = 0  # of the parts
        # Of the message that is being read, and of the last one: all bytes, and those before the
        # body of its only large part.
        self._total = self._before_body = 0
        self._last_total = self._last_before_body = 0

    @property
    def missing(self) -> int:
        """Return the bytes that are missing to the next message, if it is like the last one."""
        if self._body is not None:
            return len(self._body) - self._filled
        return max(self._last_total - self._total - (self._end - self._begin), 1)

    def subscribe(self, topics: tuple[bytes, ...]) -> None:
        self._topics = topics

    def room(self) -> memoryview:
        if self._body is not None:
            return self._body[self._filled :]
        scratch, have = self._scratch, self._end - self._begin
        if self._begin:
            scratch[:have] = scratch[self._begin : self._end]
            self._begin, self._end = 0, have
        if not self._parts and have < self._last_before_body:
            # What follows is probably a large part again, and has a better place.
            return scratch[have : self._last_before_body]
        return scratch[have:]

    def filled(self, count: int) -> None:
        if self._body is not None:
            self._filled += count
        else:
            self._end += count

    def _next_message(self) -> Message | None:
        """Take a message that is subscribed to."""
        while (body := self._take_body()) is not None:
            if not self.ready:
                zmtp.check_ready(self._flags, bytes(body), PUBLISHERS)
                self.ready = True
                continue
            if self._flags & zmtp.COMMAND:
                name, data = zmtp.read_command(bytes(body))
                if name == b'PING':
                    self.answers += zmtp.pong(data)
                continue
            parts = self._parts
            parts.append(body)
            if len(parts) > zmtp.PARTS:
                raise zmtp.BadPeer(f'a message of more than {zmtp.PARTS} parts')
            if self._flags & zmtp.MORE:
                continue
            self._parts = []
            self._last_total, self._last_before_body = self._total, self._before_body
            self._size = self._total = self._before_body = 0
            if bytes(parts[0][: self._small]).startswith(self._topics):
                return parts
        return None

    def _take_body(self) -> bytes | memoryview | None:
        """Return the body of the next frame when it is complete, with its flags in `_flags`."""
        if self._body is None:
            body = self._take_small()
            if self._body is None:
                return body
        if self._filled < len(self._body):
            return None
        large, self._body = self._body, None
        return large

    def _take_small(self) -> bytes | None:
        """Return a small body, or begin a large one."""
        data = self._scratch[self._begin : self._end]
        if not self._greeted:
            if not zmtp.check_greeting(bytes(data[: zmtp.GREETING_BYTES])):
                return None
            self._greeted = True
            self._begin += zmtp.GREETING_BYTES
            data = data[zmtp.GREETING_BYTES :]
        head = zmtp.read_frame_head(data, self._limit - self._size)
        if head is None:
            return None
        self._flags, size, start = head
        if size > self._small:
            self._begin_body(data[start:], start, size)
            return None
        end = start + size
        if len(data) < end:
            return None
        self._begin += end
        if not self._flags & zmtp.COMMAND:
            self._count(start, size)
        return bytes(data[start:end])

    def _begin_body(self, data: memoryview, start: int, size: int) -> None:
        if not self.ready:
            raise zmtp.BadPeer('a message came before READY')
        # Where the message has two large parts, the second one is not expected anywhere.
        self._before_body = self._total + start if self._total < self._small else 0
        self._count(start, size)
        try:
            body = self._memory(size)
        except MemoryError:
            raise zmtp.BadPeer(f'there is no memory for a part of {size} bytes') from None
        have = min(len(data), size)
        body[:have] = data[:have]
        self._body, self._filled = body, have
        self._begin += start + have

    def _count(self, start: int, size: int) -> None:
        """Note a frame of a message."""
        self._total += start + size
        self._size += size


class MessageReader(PublisherReader, Reader[Message]):
    """Gives messages, part by part."""

    def next(self) -> Message | None:
        return self._next_message()


__all__ = ['PUBLISHERS', 'SMALL', 'Memory', 'MessageReader', 'PublisherReader', 'Reader']
