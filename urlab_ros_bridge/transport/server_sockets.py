# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The ZeroMQ sockets that a server process binds, encrypted or not.

Every one of them asks an authenticator (ZAP, RFC 27).  With keys it admits known clients only.
Without keys it admits everybody who speaks ZMTP 3: libzmq refuses older peers as soon as there is
an authenticator, and the HTTP request of a web page looks to it like ZMTP 1.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math

import zmq
from zmq.auth.thread import ThreadAuthenticator

from urlab_ros_bridge.transport.connection_guard import ConnectionGuard
from urlab_ros_bridge.transport.connection_guard import WatchedSocket
from urlab_ros_bridge.transport.keys import ServerKeys
from urlab_ros_bridge.wire.errors import UrlabError

_ZAP_DOMAIN = 'urlab'
_HANDSHAKE_MS = 10_000
_BACKLOG = 1024
_IDLE_SECONDS, _PROBES = 30, 4  # until the connection of a dead host ends


class SocketInUse(UrlabError):
    """A port of the server is taken, or its address cannot be bound."""

    def __init__(self, endpoint: str, reason: str, option: str) -> None:
        super().__init__(
            f'cannot bind {endpoint}: {reason}; is another server running? '
            f'Choose another port with {option}, or move them all with --port-offset'
        )


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """
    What peers of a socket may make it hold.

    :ivar message_bytes: of one part that a peer sends; a larger one ends its connection.
    :ivar send_queue: messages for a peer that does not read.
    :ivar receive_queue: messages of a peer that were not read yet.
    :ivar send_buffer: bytes that the kernel takes at a time, 0: its default.
    :ivar held_bytes: of unfinished messages, or of subscriptions, of all peers together; the
        connection that holds most is closed first.
    :ivar held_seconds: that a message may take, once more than a few kilobytes have arrived.
    """

    message_bytes: int
    send_queue: int = 1000
    receive_queue: int = 1000
    send_buffer: int = 0
    held_bytes: int = 16 << 20
    held_seconds: float = math.inf


class ServerSockets:
    """The sockets of one process, their context and their authenticator."""

    def __init__(self, keys: ServerKeys | None) -> None:
        self._context = zmq.Context()
        self._keys = keys
        self._sockets: list[zmq.Socket[bytes]] = []
        self._guard = ConnectionGuard()
        self._watched: dict[zmq.Socket[bytes], WatchedSocket] = {}
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        if keys is not None:
            self._authenticator.configure_curve(domain=_ZAP_DOMAIN, location=str(keys.clients))

    def bind(
        self,
        kind: int,
        host: str,
        port: int,
        option: str,
        limits: SocketLimits,
        before: Callable[[zmq.Socket[bytes]], None] = lambda socket: None,
    ) -> zmq.Socket[bytes]:
        """
        Bind a socket.

        :param kind: as `zmq.ROUTER`.
        :param host: an address of this machine, or * for all.
        :param port: 0: any free one.
        :param before: called with the socket before it is bound.
        :param option: of the command line that chooses the port, for the error.
        :raises SocketInUse: when the address cannot be bound.
        """
        socket = self._open(kind, limits)
        before(socket)
        watched = self._watch(socket, kind, limits)
        endpoint = f'tcp://{host}:{port or "*"}'
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            watched.events.close()  # and the socket
            reason = zmq.strerror(error.errno or 0)
            raise SocketInUse(endpoint, reason, option) from error
        self._add(socket, watched)
        return socket

    def adopt(self, kind: int, listener: int, limits: SocketLimits) -> zmq.Socket[bytes]:
        """
        Serve a TCP socket that listens already.

        :param listener: its descriptor.
        """
        socket = self._open(kind, limits)
        socket.setsockopt(zmq.USE_FD, listener)
        watched = self._watch(socket, kind, limits)
        socket.bind('tcp://127.0.0.1:*')  # the address is that of the listener
        self._add(socket, watched)
        return socket

    def finish_of(self, socket: zmq.Socket[bytes]) -> Callable[[int], None]:
        """
        Return the function that a socket's reader calls for each message that it has received.

        Its argument is the descriptor of the connection (zmq.SRCFD).
        """
        return self._watched[socket].finish

    def connect_inside(self, endpoint: str, identity: bytes) -> zmq.Socket[bytes]:
        """Return a DEALER that is connected to an inproc endpoint of this process."""
        socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        socket.linger = 0
        socket.identity = identity
        socket.connect(endpoint)
        self._sockets.append(socket)
        return socket

    def close(self) -> None:
        """Close all sockets and end the authenticator; sent replies get a moment to leave."""
        self._guard.stop()
        for socket in self._sockets:
            socket.close(linger=200 if socket.type == zmq.ROUTER else 0)
        self._authenticator.stop()
        self._context.destroy(linger=0)  # with what reads the events of sockets

    def _watch(self, socket: zmq.Socket[bytes], kind: int, limits: SocketLimits) -> WatchedSocket:
        return WatchedSocket(
            socket, limits.held_bytes, limits.held_seconds, keeps=kind == zmq.XPUB
        )

    def _add(self, socket: zmq.Socket[bytes], watched: WatchedSocket) -> None:
        self._sockets.append(socket)
        self._watched[socket] = watched
        self._guard.watch(watched)

    def _open(self, kind: int, limits: SocketLimits) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.linger = 0
        socket.maxmsgsize = limits.message_bytes
        socket.sndhwm = limits.send_queue
        socket.rcvhwm = limits.receive_queue
        if limits.send_buffer:
            socket.sndbuf = limits.send_buffer
        if kind == zmq.XPUB:
            socket.setsockopt(zmq.XPUB_VERBOSE, 1)  # report every subscriber, not the first only
        socket.backlog = _BACKLOG
        socket.handshake_ivl = _HANDSHAKE_MS
        socket.tcp_keepalive = 1
        socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = _IDLE_SECONDS
        socket.tcp_keepalive_cnt = _PROBES
        socket.zap_domain = _ZAP_DOMAIN.encode()
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
        if self._keys is not None:
            socket.curve_server = 1
            socket.curve_publickey = self._keys.public
            socket.curve_secretkey = self._keys.secret
        return socket


def bound_endpoint(socket: zmq.Socket[bytes]) -> str:
    """Return the address that the socket was bound to last, with the port that it was given."""
    endpoint = socket.getsockopt(zmq.LAST_ENDPOINT)
    return endpoint.decode().rstrip('\x00') if isinstance(endpoint, bytes) else ''
