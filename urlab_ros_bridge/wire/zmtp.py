# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What ZeroMQ sends over TCP, as far as requests and replies need it: ZMTP 3.1 (RFC 37), NULL.

libzmq gives each socket's connections to a thread of its own, so each message costs two thread
switches on each side: more than most requests.  With these bytes the thread that asks or answers
can use the connection itself.

A connection begins with a greeting of 64 bytes and a READY command in both directions.  Then come
frames: a byte of flags, the size in one or eight bytes, the body.  A message is all frames up to
one without MORE.

Everything here is total: any bytes give frames or a `WireError`, and sizes are checked before
anything is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
import struct

from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import WireError

MORE, LONG, COMMAND = 1, 2, 4
GREETING_BYTES = 64
COMMAND_BYTES = 4096  # of a command at most; libzmq's own have less than 300
PARTS = 256  # of a message at most
DELIMITER = b'\x01\x00'  # the empty first frame of what REQ and REP send
_SIGNATURE = b'\xff' + bytes(7) + b'\x01\x7f'
NO_KEYS = 'NULL'  # the security mechanism without any
_MECHANISM = slice(12, 32)
GREETING = _SIGNATURE + b'\x03\x01' + NO_KEYS.encode().ljust(20, b'\x00') + bytes(32)
# Of a peer that subscribes by messages, as it can to any publisher; by 3.1 it would use commands.
GREETING_3_0 = GREETING[:11] + b'\x00' + GREETING[12:]
# Up to the mechanism: a peer that hears ours might hang up before it sends its own.
GREETING_BEFORE_MECHANISM = GREETING[: _MECHANISM.start]
_SHORT_SOLE = DELIMITER + b'\x00'
_LONG_SOLE = DELIMITER + b'\x02'
_LONG_HEAD = struct.Struct('>BQ')


class BadPeer(WireError):
    """What a peer sends is not what a ZeroMQ socket of a fitting kind sends."""


class OtherMechanism(BadPeer):
    """The peer wants its connections protected, by keys or a password."""


def read_mechanism(data: bytes | bytearray) -> str | None:
    """
    Return the security mechanism of a peer from what it sends first: NULL, PLAIN, CURVE.

    :return: None as long as its greeting is not complete.
    :raises BadPeer: it is no ZeroMQ socket, or older than ZMTP 3 (libzmq 4).
    """
    if data[:1] not in (b'', b'\xff') or (len(data) > 9 and not data[9] & 1):
        raise BadPeer('the peer does not speak ZMTP')
    if len(data) > 10 and data[10] < 3:
        raise BadPeer(f'the peer speaks ZMTP {data[10]}; at least 3 is needed')
    if len(data) < GREETING_BYTES:
        return None
    return data[_MECHANISM].rstrip(b'\x00').decode('ascii', 'replace')


def check_greeting(data: bytes | bytearray) -> bool:
    """
    Check the beginning of what a peer sends; return whether the greeting is complete.

    :raises OtherMechanism: the peer has another security mechanism than NULL.
    :raises BadPeer: see `read_mechanism`.
    """
    mechanism = read_mechanism(data)
    if mechanism not in (None, NO_KEYS):
        raise OtherMechanism(f'the mechanism of the peer is {mechanism!r}, not {NO_KEYS}')
    return mechanism is not None


def frame(body: bytes, flags: int = 0) -> bytes:
    """Return a frame."""
    return frame_head(len(body), flags) + body


def frame_head(size: int, flags: int = 0) -> bytes:
    """Return what comes before the body of a frame."""
    if size < 256:
        return bytes((flags, size))
    return _LONG_HEAD.pack(flags | LONG, size)


def read_frame_head(
    data: bytes | bytearray | memoryview, limit: int
) -> tuple[int, int, int] | None:
    """
    Return the flags of the frame that `data` begins with, the size of its body, and its place.

    :param limit: of the body, in bytes; that of commands is `COMMAND_BYTES`.
    :return: None as long as that is not complete.
    :raises FrameTooLarge: the body is larger.
    :raises BadPeer: there are no such flags.
    """
    have = len(data)
    if have < 2:
        return None
    flags = data[0]
    start = _LONG_HEAD.size if flags & LONG else 2
    if have < start:
        return None
    if flags > 7 or flags & (COMMAND | MORE) == COMMAND | MORE:
        raise BadPeer(f'a frame has the flags {flags:#04x}')
    size = int.from_bytes(data[1:start], 'big')
    if flags & COMMAND:
        limit = COMMAND_BYTES
    if size > limit:
        raise FrameTooLarge(size, limit)
    return flags, size, start


def command(name: bytes, data: bytes = b'') -> bytes:
    """Return a command as a frame."""
    return frame(bytes((len(name),)) + name + data, COMMAND)


def ready(kind: str) -> bytes:
    """Return the READY command of a socket; `kind` as REQ or ROUTER."""
    return command(
        b'READY', _property(b'Socket-Type', kind.encode()) + _property(b'Identity', b'')
    )


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + len(value).to_bytes(4, 'big') + value


def read_command(body: bytes) -> tuple[bytes, bytes]:
    """
    Return the name and the data of a command.

    :raises BadPeer: when it has no name.
    """
    end = 1 + (body[0] if body else 0)
    if end == 1 or end > len(body):
        raise BadPeer('a command has no name')
    return body[1:end], body[end:]


def read_ready(data: bytes, fitting: Iterable[str]) -> str:
    """
    Return which kind of socket a peer is, from the data of its READY.

    :param fitting: the kinds that are accepted.
    :raises BadPeer: it is none of them, or the data is damaged.
    """
    kind, place = '', 0
    while place < len(data):
        name_end = place + 1 + data[place]
        start = name_end + 4
        end = start + int.from_bytes(data[name_end:start], 'big')
        if end > len(data) or start > len(data):
            raise BadPeer('a property of READY is cut short')
        if data[place + 1 : name_end].lower() == b'socket-type':
            kind = data[start:end].decode('ascii', 'replace')
        place = end
    if kind not in fitting:
        raise BadPeer(f'the peer is a {kind!r:.40} socket, expected {" or ".join(fitting)}')
    return kind


def check_ready(flags: int, body: bytes, fitting: Iterable[str]) -> None:
    """
    Check the first frame after the greeting, which has to be the READY of a fitting socket.

    :raises BadPeer: it is something else; see `read_ready`.
    """
    if not flags & COMMAND:
        raise BadPeer('a message came before READY')
    name, data = read_command(body)
    if name != b'READY':
        raise BadPeer(f'{name[:20]!r} came before READY')
    read_ready(data, fitting)


def pong(data: bytes) -> bytes:
    """Return the answer to the data of a PING: its context, after the time to live."""
    return command(b'PONG', data[2:18])


def sole_body(data: bytes) -> bytes | None:
    """
    Return the body if `data` is exactly one message of a delimiter and a body.

    That is how requests and replies mostly arrive; anything else is for a `ZmtpReader`.
    """
    head = data[:3]
    if head == _SHORT_SOLE:
        return data[4:] if len(data) > 3 and len(data) == data[3] + 4 else None
    if head == _LONG_SOLE and int.from_bytes(data[3:11], 'big') == len(data) - 11:
        return data[11:]
    return None


class ZmtpReader:
    """
    Cuts what a peer sends into frames.

    :ivar size: bytes that wait.
    :ivar missing: bytes without which there is no next frame; what is known so far.
    """

    def __init__(self, limit: int) -> None:
        """
        Begin.

        :param limit: of the body of a frame, in bytes.
        """
        self._limit = limit
        self._data = bytearray()
        self._needed = 2

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def missing(self) -> int:
        return max(self._needed - len(self._data), 0)

    def feed(self, data: bytes) -> None:
        """Add what was received."""
        self._data += data

    def greeted(self) -> bool:
        """
        Take the greeting; return whether it is complete.

        :raises BadPeer: see `check_greeting`.
        """
        if not check_greeting(self._data):
            return False
        del self._data[:GREETING_BYTES]
        return True

    def next(self) -> tuple[int, bytes] | None:
        """
        Take a frame: its flags and its body; None when it is not complete.

        :raises FrameTooLarge: as soon as the size is known.
        :raises BadPeer: for flags that do not exist.
        """
        data = self._data
        have = len(data)
        if have < self._needed:
            return None
        head = read_frame_head(data, self._limit)
        if head is None:
            self._needed = _LONG_HEAD.size
            return None
        flags, size, start = head
        if have < start + size:
            self._needed = start + size
            return None
        with memoryview(data) as view:
            body = bytes(view[start : start + size])
        del data[: start + size]
        self._needed = 2
        return flags, body


__all__ = [
    'COMMAND',
    'DELIMITER',
    'GREETING',
    'GREETING_3_0',
    'GREETING_BEFORE_MECHANISM',
    'GREETING_BYTES',
    'MORE',
    'NO_KEYS',
    'PARTS',
    'BadPeer',
    'OtherMechanism',
    'ZmtpReader',
    'check_greeting',
    'check_ready',
    'command',
    'frame',
    'frame_head',
    'pong',
    'read_command',
    'read_frame_head',
    'read_mechanism',
    'read_ready',
    'ready',
    'sole_body',
]
