# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One WebSocket connection, with blocking sockets.

The library `websockets` does the protocol (its I/O-free half): handshake, masks, fragments, pings,
closing.  Large payloads, observations of megabytes, bypass it: the frame header is
written here and the kernel gathers the buffers (`sendmsg`).  Frames to the client are not masked
and never compressed, so their bytes are the bytes of the arrays.

No peer holds a connection for longer than it takes part in it.  Once a close has been sent, by
whichever side and for whatever reason, it gets `CLOSE_SECONDS` and `MAX_AFTER_CLOSE` bytes; then
the connection is reset.  Only whole frames are a sign of life, so that trickling bytes are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import errno
from http import HTTPStatus
import logging
import select
import socket
import struct
import threading
import time
from typing import TypeAlias

from websockets.exceptions import ProtocolError as WebSocketError
from websockets.frames import CloseCode
from websockets.frames import Frame
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.http_files import HttpAnswer

Buffer: TypeAlias = bytes | bytearray | memoryview

MAX_MESSAGE = 1 << 22
# Opening requests of browsers with many cookies stay below half of that.
MAX_OPENING = 1 << 14
READ_SIZE = 1 << 16
# Silence after which a peer is asked whether it is there, and as long again until it is given up.
KEEPALIVE = 20.0
CLOSE_SECONDS = 2.0
# A message that was on its way still comes, and the peer sees the close only behind it.
MAX_AFTER_CLOSE = 2 * MAX_MESSAGE
GOING_AWAY = CloseCode.GOING_AWAY.value
MAX_REASON = 123  # bytes; RFC 6455, section 5.5

_BINARY_FINAL = 0x82
_TEXT_FINAL = 0x81
_TIMEVAL = struct.Struct('ll')
_LINGER_NONE = struct.pack('ii', 1, 0)
_PEER_LEFT = select.POLLHUP | select.POLLERR | getattr(select, 'POLLRDHUP', 0)

_PROTOCOL_LOG = logging.getLogger(f'{__name__}.protocol')
_PROTOCOL_LOG.setLevel(logging.WARNING)


class PeerGone(Exception):
    """The connection has ended; nothing more can be sent."""


class WebSocketConnection:
    """
    The server's end of a WebSocket.  `send`, `close` and `abort` may be called from any thread.

    :ivar peer: address and port of the other side, for messages; `host` its address alone.
    :ivar local_address: of this machine, at which the peer arrived.
    :ivar last_reason: close code and text that ended it, for the log.
    """

    def __init__(
        self,
        link: socket.socket,
        keepalive: float = KEEPALIVE,
        max_message: int = MAX_MESSAGE,
        relayed: tuple[tuple[str, int], str] | None = None,
    ) -> None:
        """
        Take over an accepted socket.

        :param relayed: of a socket that is no TCP connection itself: address and port of the
            peer, and the address of this machine at which it arrived.
        :raises OSError: when the peer has gone already.
        """
        if relayed is None:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            relayed = link.getpeername()[:2], link.getsockname()[0]
        self.link = link
        (self.host, port), self.local_address = relayed
        self.peer = f'{self.host}:{port}'
        self.last_reason = ''
        self._keepalive = keepalive
        self._protocol = ServerProtocol(max_size=max_message, logger=_PROTOCOL_LOG)
        self._opening_bytes = 0
        self._response: Response | None = None
        self._sending = threading.Lock()
        self._last_sign = time.monotonic()  # of life: a whole frame
        self._last_ping = 0.0
        self._gone = False
        self._drops = False  # what still comes is not looked at
        self._closing_until: float | None = None
        self._after_close = 0
        self._rest = memoryview(b'')  # of an offered frame

    def read_opening(self, data: bytes) -> Request | None:
        """
        Take bytes of the opening request, none at its end; return it when it is whole.

        :raises HandshakeRefusal: when it is not a request for a WebSocket.
        """
        protocol = self._protocol
        self._opening_bytes += len(data)
        if self._opening_bytes > MAX_OPENING:
            raise HandshakeRefusal(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f'the opening request has more than {MAX_OPENING} bytes',
            )
        protocol.receive_data(data) if data else protocol.receive_eof()
        for event in protocol.events_received():
            if isinstance(event, Request):
                return event
        if protocol.handshake_exc is not None:
            cause = protocol.handshake_exc.__cause__ or protocol.handshake_exc
            raise HandshakeRefusal(HTTPStatus.BAD_REQUEST, f'this is not HTTP: {cause!s:.200}')
        return None

    def agree(self, request: Request) -> None:
        """
        Prepare the answer to a request.

        :raises HandshakeRefusal: when it does not ask for a WebSocket as it has to.
        """
        response = self._protocol.accept(request)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            more = [(k, v) for k, v in response.headers.raw_items() if k in ('Allow', 'Upgrade')]
            text = bytes(response.body or b'').decode(errors='replace').strip()
            raise HandshakeRefusal(response.status_code, text, more)
        self._response = response

    def refuse(self, refusal: HandshakeRefusal) -> None:
        """Answer a request that is turned down, without waiting for the peer to take it."""
        response = self._protocol.reject(refusal.status, f'{refusal}\n')
        for name, value in refusal.headers:
            response.headers[name] = value
        self.last_reason = f'refused with HTTP {refusal.status}: {refusal}'
        with contextlib.suppress(OSError):
            self.link.send(response.serialize(), socket.MSG_DONTWAIT)
            self.link.shutdown(socket.SHUT_WR)

    def answer(self, answer: HttpAnswer) -> None:
        """Answer a plain HTTP request and wait until the peer has taken it, or has gone."""
        self.last_reason = f'HTTP {answer.status}'
        set_timeouts(self.link, CLOSE_SECONDS)
        with contextlib.suppress(OSError):
            head, body = memoryview(answer.head()), memoryview(answer.body)
            gather(self.link, [head, body] if body else [head])
            self.link.shutdown(socket.SHUT_WR)
            received = 0
            while received < MAX_OPENING and (data := self.link.recv(READ_SIZE)):
                received += len(data)  # a socket closed with unread bytes loses the answer

    def open(self) -> None:
        """Send the answer that was agreed on; a peer that has left is noticed by `messages`."""
        set_timeouts(self.link, self._keepalive)
        self._last_sign = time.monotonic()
        if self._response is None:
            raise RuntimeError('agree() comes first')
        with self._sending:
            self._protocol.send_response(self._response)
            try:
                self._flush()
            except OSError:
                self._break()

    def messages(self) -> Iterator[bytes]:
        """
        Yield whole messages until the connection ends; pings are answered on the way.

        A text message is yielded like a binary one.  What still comes after `close` is dropped: a
        command behind a refused one must not move anything.
        """
        for message, _ in self.typed_messages():
            yield message

    def typed_messages(self) -> Iterator[tuple[bytes, bool]]:
        """Yield whole messages as `messages` does, each with whether it is a text message."""
        fragments, is_text = bytearray(), False
        while True:
            for event in self._protocol.events_received():
                self._last_sign = time.monotonic()
                if self._gone:
                    return
                if self._drops or not isinstance(event, Frame):
                    continue
                if event.opcode is Opcode.CONT:
                    fragments += event.data
                elif event.opcode not in (Opcode.BINARY, Opcode.TEXT):
                    continue
                elif event.fin:
                    yield bytes(event.data), event.opcode is Opcode.TEXT
                    continue
                else:
                    fragments, is_text = bytearray(event.data), event.opcode is Opcode.TEXT
                if event.fin:
                    whole, fragments = bytes(fragments), bytearray()
                    yield whole, is_text
            if not self._receive():
                return

    def send(self, parts: Sequence[Buffer], *, text: bool = False) -> None:
        """
        Send one message made of `parts`; blocks while the peer does not read.

        :param text: whether it is a text message, of UTF-8, and not a binary one.

        :raises PeerGone: when it cannot be sent.
        """
        head = frame_head(sum(map(len, parts)), text=text)
        # The small first part travels with the frame header.
        buffers = [memoryview(head + bytes(parts[0])), *(memoryview(part) for part in parts[1:])]
        with self._sending:
            if self._protocol.state is not OPEN:
                raise PeerGone
            try:
                self._send_rest()
                gather(self.link, buffers)
            except OSError as error:
                self._break()
                raise PeerGone from error

    def offer(self, frame: Buffer) -> bool:
        """
        Begin to send a frame, unless one before it is still on its way; never blocks.

        What the kernel does not take at once is kept by reference, and sent by `push` or before
        the next message.

        :param frame: `frame_head` and the message, in one piece: one for all peers.
        :returns: whether the peer will get it; False for one that is busy or has gone.
        """
        if not self._sending.acquire(blocking=False):
            return False  # another thread sends, or waits for a peer that does not read
        try:
            if self._protocol.state is not OPEN:
                return False
            if self._rest and not self._send_without_waiting():
                return False
            try:
                sent = self.link.send(frame, socket.MSG_DONTWAIT)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._break()
                return False
            if sent < len(frame):
                self._rest = memoryview(frame)[sent:]
            return True
        finally:
            self._sending.release()

    def push(self) -> bool:
        """Send of an offered frame what the kernel takes now; return whether nothing is left."""
        if not self._sending.acquire(blocking=False):
            return False
        try:
            return self._send_without_waiting()
        finally:
            self._sending.release()

    @property
    def is_busy(self) -> bool:
        """Whether a frame that was offered has not been taken by the kernel."""
        return bool(self._rest)

    def close(self, code: int, reason: str = '', patience: float = CLOSE_SECONDS) -> None:
        """
        Start the closing handshake; `messages` then ends within `CLOSE_SECONDS`.

        :param patience: seconds that a message which is on its way gets; then the peer, which
            does not read, is cut off.
        """
        if not self._sending.acquire(timeout=patience):
            self.last_reason = f'{code} {reason} (the peer does not read)'
            self.abort()
            return
        try:
            self._drops = True
            if self._protocol.state is not OPEN:
                return
            self.last_reason = f'{code} {reason}'.strip()
            self._protocol.send_close(code, cut_utf8(reason, MAX_REASON))
            self._begin_closing()
            self._flush()
        except OSError:
            self._break()
        finally:
            self._sending.release()

    def drain(self) -> None:
        """Wait for the end after `close`; a socket closed with unread bytes loses its reason."""
        for _ in self.messages():
            pass

    @property
    def is_ending(self) -> bool:
        """Return whether it was closed, or the peer has left, noticed or not."""
        if self._gone or self._protocol.state is not OPEN:
            return True
        poller = select.poll()
        try:
            poller.register(self.link, _PEER_LEFT)
        except ValueError:  # closed in between
            return True
        return bool(poller.poll(0))

    def is_overdue(self, now: float) -> bool:
        """Return whether the time after a close is over (`now` as of `time.monotonic`)."""
        return self._closing_until is not None and now > self._closing_until

    def abort(self) -> None:
        """Reset the connection; unblocks threads that read or write it."""
        with contextlib.suppress(OSError):
            # What the peer has not taken by now is thrown away, and what it sends is refused.
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
            self.link.shutdown(socket.SHUT_RDWR)

    def dispose(self) -> None:
        """Release the socket, when it is no longer used."""
        self._gone = True
        self.link.close()

    def _receive(self) -> bool:
        """Read once; return whether there may be more."""
        protocol = self._protocol
        try:
            data = self.link.recv(READ_SIZE)
        except BlockingIOError:
            return self._ask_whether_alive()
        except OSError:
            return self._break()
        now = time.monotonic()
        if self._closing_until is not None:
            self._after_close += len(data)
            if now > self._closing_until or self._after_close > MAX_AFTER_CLOSE:
                return self._break()
        with self._sending:
            if self._gone:  # hung up by a sender; what lay in the socket is of no use
                return False
            try:
                if data:
                    protocol.receive_data(data)
                else:
                    protocol.receive_eof()
                self._flush()
            except (OSError, WebSocketError):
                return self._break()
            if protocol.close_rcvd is not None and not self.last_reason:
                self.last_reason = f'closed by the peer with {protocol.close_rcvd.code}'
            if protocol.parser_exc is not None and not self.last_reason:
                self.last_reason = f'{protocol.parser_exc}'
            if protocol.state is not OPEN:
                self._begin_closing()
        if data and now - self._last_sign > self._keepalive and not protocol.events:
            return self._ask_whether_alive()
        return bool(data)

    def _ask_whether_alive(self) -> bool:
        now = time.monotonic()
        silent = now - self._last_sign
        if self._protocol.state is not OPEN:
            return self._break()
        if silent > 1.9 * self._keepalive:
            self.last_reason = f'no response for {silent:.0f} s'
            return self._break()
        if now - self._last_ping < self._keepalive / 2:
            return True
        self._last_ping = now
        with self._sending:
            try:
                self._protocol.send_ping(b'')
                self._flush()
            except OSError:
                return self._break()
        return True

    def _begin_closing(self) -> None:
        if self._closing_until is None:
            self._closing_until = time.monotonic() + CLOSE_SECONDS
            set_timeouts(self.link, CLOSE_SECONDS)

    def _send_rest(self) -> None:
        """Wait until an offered frame has left; a frame within a frame would end everything."""
        if self._rest:
            rest, self._rest = self._rest, memoryview(b'')
            gather(self.link, [rest])

    def _send_without_waiting(self) -> bool:
        """Send of an offered frame what the kernel takes; return whether nothing is left."""
        try:
            while self._rest:
                self._rest = self._rest[self.link.send(self._rest, socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            return False
        except OSError:
            self._break()
            return False
        return True

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            self._send_rest()
            if data:
                gather(self.link, [memoryview(data)])
            else:
                self.link.shutdown(socket.SHUT_WR)

    def _break(self) -> bool:
        self.last_reason = self.last_reason or 'the connection was lost'
        self._gone = True
        self.abort()
        if self._protocol.state is OPEN:
            self._protocol.receive_eof()
        return False


def frame_head(size: int, *, text: bool = False) -> bytes:
    """Return what precedes the bytes of an unmasked message (RFC 6455, section 5.2)."""
    first = _TEXT_FINAL if text else _BINARY_FINAL
    if size < 126:
        return bytes((first, size))
    if size < 1 << 16:
        return struct.pack('!BBH', first, 126, size)
    return struct.pack('!BBQ', first, 127, size)


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


__all__ = [
    'CLOSE_SECONDS', 'GOING_AWAY', 'KEEPALIVE', 'MAX_AFTER_CLOSE', 'MAX_MESSAGE', 'MAX_OPENING',
    'Buffer', 'PeerGone', 'WebSocketConnection', 'cut_utf8', 'frame_head',
]  # fmt: skip
