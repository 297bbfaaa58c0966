# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One request, one reply, on a connection of the calling thread's own.

The bytes are those of a REQ socket of libzmq, without the thread in between, which costs two
thread switches for each request and each reply (`wire.zmtp`).

The wire has no request ids: the order on a connection is the only correlation.  So a request that
got no reply takes its connection with it: the next request runs on a new one, on which a late
reply cannot arrive.
"""

from __future__ import annotations

from contextlib import suppress
import select
import socket as sockets
import struct
import time

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import KeysRejected
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.transports.greeting import mechanism_at
from urlab_ros_bridge.client.transports.request_socket import RequestSocket
from urlab_ros_bridge.client.transports.sockets import resolve
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.encoding.codec import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import WireError

SERVERS = ('REP', 'ROUTER')
_RETRY = 0.1  # s between two attempts to connect
_RECEIVE = 1 << 16
_LARGE = 1 << 22  # at a time, of a large reply


class ZmtpRpcSocket(RequestSocket):
    """What a REQ socket does, for one server."""

    def __init__(self, endpoint: str) -> None:
        """
        Describe the server; nothing is opened yet.

        :param endpoint: ``tcp://HOST:PORT``.
        """
        self._socket: sockets.socket | None = None
        self.endpoint = endpoint
        host, _, port = endpoint.removeprefix('tcp://').rpartition(':')
        self._address = host, int(port)
        self._reader = zmtp.ZmtpReader(MAX_REPLY_BYTES)
        self._waits = 0.0  # s, what the socket's own time-out is set to
        self._cancelled = False

    def __del__(self) -> None:
        self.close()

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        wait = _ReplyWait(op, self.endpoint, timeout)
        try:
            if self._cancelled:
                raise NotConnected(op)
            socket = self._send(zmtp.DELIMITER + zmtp.frame_head(len(frame)) + frame, wait)
            # A command may have come with the handshake.
            data = b'' if self._reader.size else self._receive(socket, wait)
            reply = zmtp.sole_body(data)
            return self._rest_of_reply(socket, data, wait) if reply is None else reply
        except BaseException as error:
            self.close()
            if self._cancelled:
                raise NotConnected(op) from None
            if isinstance(error, WireError | OSError) and not isinstance(error, RequestTimeout):
                raise ConnectionLost(op, self.endpoint) from error
            raise

    def cancel(self) -> None:
        self._cancelled = True
        socket = self._socket
        if socket is not None:
            with suppress(OSError):
                socket.shutdown(sockets.SHUT_RDWR)

    def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def _send(self, message: bytes, wait: _ReplyWait) -> sockets.socket:
        """Send a request, on a new connection if need be; return what it went by."""
        while True:
            socket = self._usable() or self._connect(wait)
            self._set_timeout(socket, wait)
            try:
                sent = socket.send(message)
            except BlockingIOError:
                sent = 0
            except OSError:  # nothing of it is with the server
                self.close()
                continue
            while sent < len(message):
                self._set_timeout(socket, wait)
                with suppress(BlockingIOError):
                    sent += socket.send(memoryview(message)[sent:])
            return socket

    def _usable(self) -> sockets.socket | None:
        """Return the connection if it still stands, without what nobody asked for."""
        socket = self._socket
        if socket is None:
            return None
        if not self._reader.size:
            try:
                socket.recv(1, sockets.MSG_DONTWAIT)
            except BlockingIOError:
                return socket  # as nearly always
            except OSError:
                pass
        # It has ended, or there is a command or a second reply to the last request: on a new
        # connection there is none of it.
        self.close()
        return None

    def _receive(self, socket: sockets.socket, wait: _ReplyWait) -> bytes:
        """Return some bytes."""
        while True:
            try:
                data = socket.recv(min(max(_RECEIVE, self._reader.missing), _LARGE))
            except BlockingIOError:
                self._set_timeout(socket, wait)
                continue
            if not data:
                raise ConnectionLost(wait.op, self.endpoint)
            return data

    def _rest_of_reply(self, socket: sockets.socket, data: bytes, wait: _ReplyWait) -> bytes:
        """Return a reply that did not come in one piece, or not alone."""
        reader, parts, size = self._reader, list[bytes](), 0
        while True:
            reader.feed(data)
            while (frame := reader.next()) is not None:
                flags, body = frame
                if flags & zmtp.COMMAND:
                    name, context = zmtp.read_command(body)
                    if name == b'PING':
                        socket.send(zmtp.pong(context))
                    continue
                parts.append(body)
                size += len(body)
                if len(parts) > zmtp.PARTS:
                    raise zmtp.BadPeer(f'a reply of more than {zmtp.PARTS} parts')
                if size > MAX_REPLY_BYTES:
                    raise FrameTooLarge(size, MAX_REPLY_BYTES)
                if not flags & zmtp.MORE:
                    if len(parts) < 2 or parts[0]:
                        raise zmtp.BadPeer('the reply has no delimiter')
                    return parts[1]
            self._set_timeout(socket, wait)
            data = self._receive(socket, wait)

    def _set_timeout(self, socket: sockets.socket, wait: _ReplyWait) -> None:
        """
        Let the socket wait no longer than the caller.

        :raises RequestTimeout: when the time is over.
        """
        left = wait.left()
        # The time-out of a request is mostly that of the one before it.
        if abs(left - self._waits) > 0.01 * left:
            value = struct.pack('ll', int(left), max(int(left % 1.0 * 1e6), 1))
            socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVTIMEO, value)
            socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDTIMEO, value)
            self._waits = left

    def _connect(self, wait: _ReplyWait) -> sockets.socket:
        """Return a connection to the server, which is waited for."""
        while True:
            try:
                socket = self._dial(wait)
                break
            except OSError as error:
                if isinstance(error, RequestTimeout):
                    raise
                self.close()
                time.sleep(min(_RETRY, wait.left()))
                if self._cancelled:
                    raise NotConnected(wait.op) from None
        try:
            self._shake_hands(socket, wait)
        except (ConnectionLost, ConnectionError) as error:
            # A server with keys may hang up before it says so; a forwarded port whose other end
            # is gone hangs up, too.
            if mechanism_at(self.endpoint) in (None, zmtp.NO_KEYS):
                raise ConnectionLost(wait.op, self.endpoint) from error
            raise KeysRejected(wait.op, self.endpoint, have_keys=False) from error
        except WireError as error:
            raise KeysRejected(wait.op, self.endpoint, have_keys=False) from error
        return socket

    def _dial(self, wait: _ReplyWait) -> sockets.socket:
        address = resolve(*self._address)
        socket = self._socket = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
        socket.setblocking(False)
        socket.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
        with suppress(BlockingIOError):
            socket.connect(address)
        ready = select.poll()
        ready.register(socket, select.POLLOUT)
        while not ready.poll(1000 * min(wait.left(), _RETRY)):
            if self._cancelled:
                raise NotConnected(wait.op)
        error = socket.getsockopt(sockets.SOL_SOCKET, sockets.SO_ERROR)
        if error:
            raise OSError(error, 'connect')
        socket.setblocking(True)
        self._waits = 0.0
        return socket

    def _shake_hands(self, socket: sockets.socket, wait: _ReplyWait) -> None:
        self._reader = reader = zmtp.ZmtpReader(MAX_REPLY_BYTES)
        self._set_timeout(socket, wait)
        socket.sendall(zmtp.GREETING + zmtp.ready('REQ'))
        greeted = False
        while True:
            self._set_timeout(socket, wait)
            reader.feed(self._receive(socket, wait))
            greeted = greeted or reader.greeted()
            frame = reader.next() if greeted else None
            if frame is not None:
                break
        zmtp.check_ready(*frame, SERVERS)


class _ReplyWait:
    """How long a caller waits, and for what."""

    def __init__(self, op: str, endpoint: str, timeout: float) -> None:
        self.op = op
        self._endpoint = endpoint
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout

    def left(self) -> float:
        """
        Return what is left of the time (s).

        :raises RequestTimeout: when nothing is.
        """
        left = self._deadline - time.monotonic()
        if left <= 0.0:
            raise RequestTimeout(self.op, self._endpoint, self._timeout)
        return left


__all__ = ['ZmtpRpcSocket']
