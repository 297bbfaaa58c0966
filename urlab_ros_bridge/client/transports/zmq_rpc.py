# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One request, one reply, over a ZMQ REQ socket that survives timeouts.

The wire has no request ids: the order on a REQ/REP connection is the only correlation.  So a
request that got no reply takes its socket with it: the next request runs on a new connection, on
which a late reply cannot arrive, and a request that was never delivered is withdrawn with the old
one (LINGER 0) instead of being carried out minutes later by a restarted server.
"""

from __future__ import annotations

import math
import time
from typing import NoReturn

import zmq

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import KeysRejected
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.transports.connection_events import ConnectionEvents
from urlab_ros_bridge.client.transports.greeting import mechanism_at
from urlab_ros_bridge.client.transports.request_socket import RequestSocket
from urlab_ros_bridge.client.transports.sockets import open_socket
from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.wire.encoding.codec import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.zmtp import NO_KEYS

# How often a waiting request looks whether the peer is gone, or the client was closed.
_SLICE_MS = 100
# Asking for events costs a tenth of a fast request: not within so many seconds of the last reply.
_QUIET = 0.02

_LOST = (
    zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL  # the other side has noticed it first
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


class RpcSocket(RequestSocket):
    """A REQ socket of libzmq."""

    def __init__(self, endpoint: str, keys: ClientKeys | None = None) -> None:
        self.endpoint = endpoint
        self._keys = keys
        self._socket: zmq.Socket[bytes] | None = None
        self._events: ConnectionEvents | None = None
        self._slice = 0
        self._quiet_until = 0.0
        self._cancelled = False

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        now = time.monotonic()
        deadline = now + timeout
        socket = self._socket
        if socket is None:
            socket = self._open()
        elif now > self._quiet_until and self._events is not None:
            self._events.forget()  # of connections that broke before this request was sent
        try:
            socket.send(frame)
            while True:
                self._set_slice(socket, deadline)
                try:
                    reply = socket.recv()
                    self._quiet_until = time.monotonic() + _QUIET
                    return reply
                except zmq.Again:
                    self._check(op, deadline, timeout)
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
        self._socket = self._events = None

    def _open(self) -> zmq.Socket[bytes]:
        socket = open_socket(zmq.REQ, self._keys)
        socket.sndtimeo = _SLICE_MS
        socket.maxmsgsize = MAX_REPLY_BYTES
        self._events = ConnectionEvents(socket, _LOST)
        self._slice = 0
        socket.connect(self.endpoint)
        self._socket = socket
        return socket

    def _set_slice(self, socket: zmq.Socket[bytes], deadline: float) -> None:
        left = math.ceil((deadline - time.monotonic()) * 1000)
        slice_ms = min(_SLICE_MS, max(1, left))
        if slice_ms != self._slice:
            socket.rcvtimeo = self._slice = slice_ms

    def _fail(self, op: str, event: int) -> NoReturn:
        if event == zmq.EVENT_DISCONNECTED:
            raise ConnectionLost(op, self.endpoint)
        have_keys = self._keys is not None
        if event != zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            mechanism = mechanism_at(self.endpoint)
            if mechanism == NO_KEYS and have_keys:
                reason = 'does not use keys: connect without keys'
                raise KeysRejected(op, self.endpoint, have_keys=True, reason=reason)
            # A forwarded port whose other end is gone, or a server that is just ending.
            hung_up = mechanism is None and event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
            if hung_up or mechanism == NO_KEYS:
                raise ConnectionLost(op, self.endpoint)
        raise KeysRejected(op, self.endpoint, have_keys=have_keys)

    def _check(self, op: str, deadline: float, timeout: float) -> None:
        if self._cancelled:
            raise NotConnected(op)
        if self._events is not None and self._events.waits():
            self._fail(op, self._events.take())
        if time.monotonic() >= deadline:
            raise RequestTimeout(op, self.endpoint, timeout)
