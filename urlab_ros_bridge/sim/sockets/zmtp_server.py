# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A listening socket that speaks ZMTP itself: accepting, the handshake, heartbeats, dropping.

What messages mean, and how replies or frames are sent, is for its owner to say: requests and
replies (`sim/transports/zmtp_rpc.py`), the stream of a camera
(`sim/cameras/renderer/sending/zmtp_sender.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import errno
import select
import socket as sockets
import time
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.wire import zmtp

HANDSHAKE_SECONDS = 30.0  # as libzmq has it
_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_LEFT = (errno.ECONNABORTED, errno.EPROTO)  # before it was accepted
_ACCEPT_AGAIN = 0.1  # s
_HANDSHAKE_CHECK = 1.0  # s, at handshakes that do not end
_ACCEPT_TURN = 32  # connections at a time, before others are served


class ZmtpConnection:
    """
    A connection as the server sees it.

    :ivar began: s by time.monotonic.
    :ivar greeted: its greeting has come; `ready`: its READY, too.
    :ivar handle: its descriptor, also after it was closed.
    """

    __slots__ = ('began', 'greeted', 'handle', 'reader', 'ready', 'socket')

    def __init__(self, socket: sockets.socket, limit: int) -> None:
        """
        Begin with a socket that was just accepted.

        :param limit: of the body of a frame, in bytes.
        """
        self.socket = socket
        self.handle = socket.fileno()
        self.began = time.monotonic()
        self.greeted = self.ready = False
        self.reader = zmtp.ZmtpReader(limit)


Connection = TypeVar('Connection', bound=ZmtpConnection)


class ZmtpServer(Generic[Connection]):
    """
    The connections of one listening socket; used by one thread, which waits at `poll`.

    It closes none by itself: its owner calls `drop`, as there may be more to clean up.

    :ivar listener: the listening socket.
    :ivar poll: all that may be readable; the owner may register other descriptors.
    :ivar connections: those that are open, by descriptor.
    """

    def __init__(
        self,
        listener: sockets.socket,
        kind: str,
        peers: tuple[str, ...],
        connect: Callable[[sockets.socket], Connection],
        send: Callable[[Connection, bytes], None],
    ) -> None:
        """
        Begin to listen.

        :param kind: of socket that this is towards its peers, as ROUTER.
        :param peers: the kinds of sockets that may connect.
        :param connect: makes the connection of a socket that was accepted.
        :param send: sends parts of the handshake; it may drop the connection.
        """
        self.listener = listener
        self.poll = select.epoll()
        self.connections: dict[int, Connection] = {}
        self._ready = zmtp.ready(kind)
        self._peers = peers
        self._connect = connect
        self._send = send
        self._shaking: dict[int, Connection] = {}  # hands; the oldest first
        self._accept_at = 0.0
        listener.setblocking(False)
        # Once for each connection: without descriptors for them it must not wake all the time.
        self.poll.register(listener, select.EPOLLIN | select.EPOLLET)

    def accept(self) -> None:
        """Accept and greet those who wait to be, a limited number at a time."""
        self._accept_at = 0.0
        for _ in range(_ACCEPT_TURN):
            try:
                socket, _ = self.listener.accept()
            except OSError as error:
                if error.errno in _LEFT:
                    continue  # who waits behind it is not announced again
                if error.errno in _NO_DESCRIPTORS:
                    self._accept_at = time.monotonic() + _ACCEPT_AGAIN
                return
            socket.setblocking(False)
            with suppress(OSError):
                socket.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
            connection = self._connect(socket)
            self.connections[connection.handle] = self._shaking[connection.handle] = connection
            self.poll.register(connection.handle, select.EPOLLIN)
            self._send(connection, zmtp.GREETING)
        # There may be more, for which no event comes.
        self.poll.modify(self.listener, select.EPOLLIN | select.EPOLLET)

    @property
    def unsettled(self) -> bool:
        """Return whether there is anything for `longest_wait` to do."""
        return bool(self._shaking or self._accept_at)

    def longest_wait(self) -> float | None:
        """
        Accept those for whom there was no descriptor, if it is time.

        :return: after how many seconds to call again, and to look at `slow_handshakes`; None when
            there is no need before something is received.
        """
        if not self.unsettled:
            return None
        if self._accept_at and time.monotonic() >= self._accept_at:
            self.accept()
        return _ACCEPT_AGAIN if self._accept_at else _HANDSHAKE_CHECK

    def slow_handshakes(self) -> list[Connection]:
        """Return the connections that should have finished the handshake."""
        slow: list[Connection] = []
        if self._shaking:
            latest = time.monotonic() - HANDSHAKE_SECONDS
            # There may be thousands, so only the oldest are looked at.
            for connection in self._shaking.values():
                if connection.began > latest:
                    break
                slow.append(connection)
        return slow

    def next_frame(self, connection: Connection) -> tuple[int, bytes] | None:
        """
        Take the next frame that has come: its flags and its body; None when there is none.

        Greetings, READY and PING are answered; all frames but the greeting are returned, too.

        :raises WireError: for what no ZeroMQ socket of a fitting kind sends.
        """
        reader = connection.reader
        if not connection.greeted:
            if not reader.greeted():
                return None
            connection.greeted = True
            self._send(connection, self._ready)
            if not self.lives(connection):
                return None
        frame = reader.next()
        if frame is None:
            return None
        flags, body = frame
        if not connection.ready:
            zmtp.check_ready(flags, body, self._peers)
            connection.ready = True
            self._shaking.pop(connection.handle, None)
        elif flags & zmtp.COMMAND:
            name, data = zmtp.read_command(body)
            if name == b'PING':
                self._send(connection, zmtp.pong(data))
        return frame

    def lives(self, connection: Connection) -> bool:
        """Return whether a connection is open; another one may have its descriptor already."""
        return self.connections.get(connection.handle) is connection

    def drop(self, connection: Connection) -> bool:
        """Close a connection; return whether it was open."""
        if not self.lives(connection):
            return False
        del self.connections[connection.handle]
        self._shaking.pop(connection.handle, None)
        self.poll.unregister(connection.handle)
        connection.socket.close()
        return True


__all__ = ['HANDSHAKE_SECONDS', 'ZmtpConnection', 'ZmtpServer']
