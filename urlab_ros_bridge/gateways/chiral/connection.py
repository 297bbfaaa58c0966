# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One WebSocket connection, with blocking sockets.

The library `websockets` does the protocol (its I/O-free half): handshake, masks, fragments, pings,
closing.  What it would copy, an observation of megabytes, goes past it: the frame header is
written here and the kernel gathers the buffers (`sendmsg`).  Frames to the client are not masked
and never compressed, so their bytes are the bytes of the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import logging
import socket
import threading
import time

from websockets.exceptions import ProtocolError as WebSocketError
from websockets.frames import CloseCode
from websockets.frames import Frame
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from urlab_ros_bridge.gateways.chiral.framing import Buffer
from urlab_ros_bridge.gateways.chiral.sending import cut_utf8
from urlab_ros_bridge.gateways.chiral.sending import frame_head
from urlab_ros_bridge.gateways.chiral.sending import gather
from urlab_ros_bridge.gateways.chiral.sending import set_timeouts

MAX_REQUEST = 1 << 22
READ_SIZE = 1 << 16
# Silence after which a peer is asked whether it is there, and as long again until it is given up.
KEEPALIVE = 20.0
HANDSHAKE_SECONDS = 10.0
CLOSE_SECONDS = 2.0
GOING_AWAY = CloseCode.GOING_AWAY.value
MAX_REASON = 123  # bytes; RFC 6455, section 5.5


class Refusal(Exception):
    """The answer to a handshake that is not accepted."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class PeerGone(Exception):
    """The connection has ended; nothing more can be sent."""


class Connection:
    """
    The server's end of a WebSocket.  `send` and `close` may be called from any thread.

    :ivar peer: address of the other side, for messages.
    :ivar last_reason: close code and text that ended it, for the log.
    """

    def __init__(self, link: socket.socket, keepalive: float = KEEPALIVE) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link = link
        self._keepalive = keepalive
        # A browser sends its page's Origin; no page may drive the robot of whoever looks at it.
        quiet = logging.getLogger(f'{__name__}.protocol')
        quiet.setLevel(logging.WARNING)
        self._protocol = ServerProtocol(origins=[None], max_size=MAX_REQUEST, logger=quiet)
        self._sending = threading.Lock()
        self._last_heard = time.monotonic()
        self._gone = False
        self._closing_until: float | None = None  # set when this side has said that it closes
        self.peer = '%s:%s' % link.getpeername()[:2]  # noqa: UP031
        self.last_reason = ''

    def shake_hands(self, admit: Callable[[Request], None]) -> bool:
        """
        Answer the opening request.

        :param admit: looks at the request and raises `Refusal` to turn it down.
        :returns: whether the connection is open.
        """
        request = self._opening_request()
        if request is None:
            self._hang_up()
            return False
        response = self._protocol.accept(request)
        if response.status_code == 101:
            try:
                admit(request)
            except Refusal as refusal:
                response = self._protocol.reject(refusal.status, f'{refusal}\n')
        with self._sending:
            self._protocol.send_response(response)
            self._flush()
        if response.status_code != 101:
            self.last_reason = f'refused with HTTP {response.status_code}'
            self._linger()
            return False
        set_timeouts(self._link, self._keepalive)
        return True

    def messages(self) -> Iterator[bytes]:
        """
        Yield whole messages until the connection ends; pings are answered on the way.

        A text message is yielded like a binary one: it is no frame of the protocol, and whoever
        reads it will say so.  What still comes after `close` is dropped: an action behind a
        refused one must not move anything.
        """
        fragments: list[bytes] = []
        while True:
            for event in self._protocol.events_received():
                if self._gone:
                    return
                if self._closing_until is not None:
                    continue
                if isinstance(event, Frame) and event.opcode in (Opcode.BINARY, Opcode.TEXT):
                    fragments = [event.data]
                elif isinstance(event, Frame) and event.opcode is Opcode.CONT:
                    fragments.append(event.data)
                else:
                    continue
                if event.fin:
                    yield fragments[0] if len(fragments) == 1 else b''.join(fragments)
                    fragments = []
            if not self._receive():
                return

    def send(self, parts: Sequence[Buffer]) -> None:
        """
        Send one binary message made of `parts`; blocks while the peer does not read.

        :raises PeerGone: when it cannot be sent.
        """
        head = frame_head(sum(map(len, parts)))
        # The small first part travels with the frame header.
        buffers = [memoryview(head + bytes(parts[0])), *map(memoryview, parts[1:])]
        with self._sending:
            if self._protocol.state is not OPEN:
                raise PeerGone
            try:
                gather(self._link, buffers)
            except OSError as error:
                self._break()
                raise PeerGone from error

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
            if self._protocol.state is not OPEN:
                return
            self.last_reason = f'{code} {reason}'.strip()
            self._closing_until = time.monotonic() + CLOSE_SECONDS
            set_timeouts(self._link, CLOSE_SECONDS)
            self._protocol.send_close(code, cut_utf8(reason, MAX_REASON))
            self._flush()
        except OSError:
            self._break()
        finally:
            self._sending.release()

    def drain(self) -> None:
        """Wait for the end after `close`; a socket closed with unread bytes loses its reason."""
        for _ in self.messages():
            pass

    def abort(self) -> None:
        """End the connection without a word; unblocks whoever reads or writes it."""
        with contextlib.suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)

    def dispose(self) -> None:
        """Release the socket, when nobody uses it any more."""
        self._link.close()

    def _opening_request(self) -> Request | None:
        set_timeouts(self._link, 1.0)
        deadline = time.monotonic() + HANDSHAKE_SECONDS
        while time.monotonic() < deadline:
            try:
                data = self._link.recv(READ_SIZE)
            except BlockingIOError:
                continue
            except OSError:
                return None
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            for event in self._protocol.events_received():
                if isinstance(event, Request):
                    return event
            if not data or self._protocol.handshake_exc is not None:
                with contextlib.suppress(OSError):
                    self._flush()
                return None
        return None

    def _receive(self) -> bool:
        """Read once; return whether there may be more."""
        protocol = self._protocol
        try:
            data = self._link.recv(READ_SIZE)
        except BlockingIOError:
            return self._ask_whether_alive()
        except OSError:
            return self._break()
        self._last_heard = time.monotonic()
        if self._closing_until is not None and self._last_heard > self._closing_until:
            return self._break()  # it goes on talking
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
        return bool(data)

    def _ask_whether_alive(self) -> bool:
        silent = time.monotonic() - self._last_heard
        if self._protocol.state is not OPEN:
            return self._break()
        if silent > 1.9 * self._keepalive:
            self.last_reason = f'no sign of life for {silent:.0f} s'
            return self._break()
        with self._sending:
            try:
                self._protocol.send_ping(b'')
                self._flush()
            except OSError:
                return self._break()
        return True

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                gather(self._link, [memoryview(data)])
            else:
                self._link.shutdown(socket.SHUT_WR)

    def _linger(self) -> None:
        """Read what the peer still sends, so that its answer is not lost to a reset."""
        set_timeouts(self._link, CLOSE_SECONDS)
        with contextlib.suppress(OSError):
            for _ in range(16):
                if not self._link.recv(READ_SIZE):
                    return

    def _break(self) -> bool:
        self.last_reason = self.last_reason or 'the connection broke'
        self._hang_up()
        return False

    def _hang_up(self) -> None:
        self._gone = True
        self.abort()
        if self._protocol.state is OPEN:
            self._protocol.receive_eof()
