# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages in a stream of bytes: the length of the payload, then the payload.

The length is an unsigned integer of 32 bits, most significant byte first, and does not count
itself (Network Protocol page, "Message Formats").
"""

from __future__ import annotations

import struct

from urlab_ros_bridge.gateways.simspark.errors import MessageTooLong

# The longest command of any known client has some kB; a full scene may have hundreds.
MAX_COMMAND = 1 << 16
MAX_SCENE = 1 << 24

_LENGTH = struct.Struct('>I')


def frame(payload: bytes) -> bytes:
    r"""
    Return a message as it goes over the wire.

    >>> frame(b'(syn)')
    b'\x00\x00\x00\x05(syn)'
    """
    return _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """
    Splits a stream into payloads, however it is fragmented.

    It holds at most one message of `limit` bytes that is not whole yet.
    """

    def __init__(self, limit: int = MAX_COMMAND) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._broken = False

    def feed(self, data: bytes | bytearray) -> list[bytes]:
        """
        Take bytes; return the payloads that they complete, in order.

        :raises MessageTooLong: for a length beyond the limit.  Payloads before it in the same
            `data` are returned first: it is raised by the next call, which may be empty.  The
            stream has no sense afterwards.
        """
        buffer, found, start = self._buffer, [], 0
        if self._broken:
            raise MessageTooLong(_LENGTH.unpack_from(buffer)[0], self._limit)
        buffer += data
        while len(buffer) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, start)
            if length > self._limit:
                self._broken = True
                break
            end = start + _LENGTH.size + length
            if len(buffer) < end:
                break
            found.append(bytes(buffer[start + _LENGTH.size : end]))
            start = end
        del buffer[:start]
        if self._broken:
            del buffer[_LENGTH.size :]
            if not found:
                return self.feed(b'')
        return found

    @property
    def pending(self) -> int:
        """Return how many bytes of an unfinished message are held."""
        return len(self._buffer)


__all__ = ['MAX_COMMAND', 'MAX_SCENE', 'FrameReader', 'frame']
