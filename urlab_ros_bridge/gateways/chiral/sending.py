# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How large messages reach a socket: the kernel gathers their buffers."""

from __future__ import annotations

import errno
import socket
import struct

_BINARY_FINAL = 0x82
_TIMEVAL = struct.Struct('ll')


def frame_head(size: int) -> bytes:
    """Return what precedes the bytes of an unmasked binary message (RFC 6455, section 5.2)."""
    if size < 126:
        return bytes((_BINARY_FINAL, size))
    if size < 1 << 16:
        return struct.pack('!BBH', _BINARY_FINAL, 126, size)
    return struct.pack('!BBQ', _BINARY_FINAL, 127, size)


def gather(link: socket.socket, buffers: list[memoryview]) -> None:
    """
    Send buffers one after the other, without joining them; the list is used up.

    :raises TimeoutError: when the peer takes nothing for the time of `set_timeouts`.
    :raises OSError: when the connection broke.
    """
    left = sum(map(len, buffers))
    while True:
        try:
            sent = link.sendmsg(buffers)
        except BlockingIOError as error:
            raise TimeoutError(errno.ETIMEDOUT, 'the peer does not read') from error
        left -= sent
        if not left:
            return
        while sent >= len(buffers[0]):
            sent -= len(buffers.pop(0))
        buffers[0] = buffers[0][sent:]


def set_timeouts(link: socket.socket, seconds: float) -> None:
    """Let the kernel time out; a timeout of Python would cost two more system calls a call."""
    value = _TIMEVAL.pack(int(seconds), int(seconds % 1 * 1e6))
    link.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        link.setsockopt(socket.SOL_SOCKET, option, value)


def cut_utf8(text: str, limit: int) -> str:
    """
    Return the longest beginning of `text` that fits `limit` bytes of UTF-8.

    >>> cut_utf8('naïve', 3)
    'na'
    """
    return text.encode()[:limit].decode(errors='ignore')
