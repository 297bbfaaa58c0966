# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One request, one reply, over a ZeroMQ REQ socket that survives timeouts.

The wire has no request ids: the order on a REQ/REP connection is the only correlation.  So a
request without a reply takes its socket with it: the next request runs on a new connection, on
which a late reply cannot arrive.  A request is never queued without a connection (IMMEDIATE), so a
restarted server does not carry out one that was given up.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import NamedTuple
from typing import TypeVar

import zmq

from urlab_ros_bridge.scheduling.spin_wait import SpinWait
from urlab_ros_bridge.transport.connection_events import ConnectionEvents
from urlab_ros_bridge.transport.errors import ConnectionLost
from urlab_ros_bridge.transport.errors import KeysRejected
from urlab_ros_bridge.transport.errors import NotConnected
from urlab_ros_bridge.transport.errors import RequestTimeout
from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.transport.sockets import open_socket
from urlab_ros_bridge.transport.sockets import readable
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES

T = TypeVar('T')
# How often a waiting request checks its connection, and whether the client was closed.
_SLICE_MS = 100
# Reading events costs a tenth of a fast request: not within so many seconds of the last reply.
_QUIET = 0.02
# Longer than most steps take: being woken costs a third of a round trip (bench/step_rate.py).
SPIN_SECONDS = 8e-4
_PROBE_SECONDS, _PROBE_INTERVAL_MS = 0.5, 1
_MECHANISM_MISMATCH = int(zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
_NEEDS_KEYS = 'accepts only clients with keys (keys=DIR, --keys DIR)'
_NO_KEYS = 'does not use keys: connect without keys'
_UNKNOWN_KEYS = 'rejects the keys of this client: its folder `clients` lacks the public key'
_OTHER_KEYS = (
    'ended the handshake: its key is not the one in `server.key`, it is not a URLab server, or it '
    'is shutting down'
)
_LOST = (
    zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


class _Wait(NamedTuple):
    """A request that is waited for; `timeout` is the caller's, for messages."""

    op: str
    deadline: float
    timeout: float


class Requester:
    """
    A REQ socket of one server.  Not thread-safe, except `cancel`.

    A request that is sent while the server is away waits for it, up to the timeout.
    """

    def __init__(self, endpoint: str, keys: ClientKeys | None = None) -> None:
        """
        Describe the server; nothing is opened yet.

        :param endpoint: ``tcp://HOST:PORT``.
        """
        self.endpoint = endpoint
        self._keys = keys
        self._events: ConnectionEvents | None = None
        self._spin_wait = SpinWait(self._has_reply, SPIN_SECONDS)
        self._slice = 0
        self._quiet_until = 0.0
        self._cancelled = False

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply.

        :param op: for error messages.
        :param timeout: seconds.
        :raises RequestTimeout: when no reply arrived in time.
        :raises ConnectionLost: when the connection broke while waiting, or the reply has more
            than `MAX_REPLY_BYTES`.
        :raises KeysRejected: when keys are missing or do not match.
        """
        now = time.monotonic()
        deadline = now + timeout
        try:
            if self._events is not None and now > self._quiet_until and self._events.poll(0):
                self.close()  # its connection broke before this request
            events = self._events or self._open()
            socket = events.socket
            wait = _Wait(op, deadline, timeout)
            self._repeat(lambda: socket.send(frame), events, wait, is_sent=False)
            if time.monotonic() - now > _QUIET:
                events.discard()  # of connections that broke before this one
            self._spin_wait.spin()
            reply = self._repeat(socket.recv, events, wait, is_sent=True)
            while socket.get(zmq.RCVMORE):  # the first part of a longer reply counts
                socket.recv()
        except BaseException as error:
            self.close()
            if isinstance(error, zmq.ZMQError):  # of an address that cannot exist
                raise RequestTimeout(op, self.endpoint, timeout) from error
            raise
        self._quiet_until = time.monotonic() + _QUIET
        return reply

    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""
        self._cancelled = True

    def close(self) -> None:
        """Drop the connection and everything unsent; the next exchange opens a new one."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def _open(self) -> ConnectionEvents:
        socket = open_socket(zmq.REQ, self._keys)
        # A request is sent on an established connection and is lost with it; nothing is queued.
        socket.immediate = 1
        socket.maxmsgsize = MAX_REPLY_BYTES
        self._slice = 0
        self._events = ConnectionEvents(socket, _LOST)
        socket.connect(self.endpoint)
        return self._events

    def _has_reply(self) -> bool:
        return self._events is not None and readable(self._events.socket)

    def _repeat(
        self, call: Callable[[], T], events: ConnectionEvents, wait: _Wait, *, is_sent: bool
    ) -> T:
        """Send or receive in slices, and check for cancellation in between."""
        while True:
            left = math.ceil((wait.deadline - time.monotonic()) * 1000)
            slice_ms = min(_SLICE_MS, max(1, left))
            if slice_ms != self._slice:
                events.socket.rcvtimeo = events.socket.sndtimeo = self._slice = slice_ms
            try:
                return call()
            except zmq.Again:
                pass
            if self._cancelled:
                raise NotConnected(wait.op)
            while events.poll(0):
                event, value = events.take()
                if is_sent or event != zmq.EVENT_DISCONNECTED:
                    raise self._lost(wait.op, event, value)
            if time.monotonic() >= wait.deadline:
                raise RequestTimeout(wait.op, self.endpoint, wait.timeout)

    def _lost(self, op: str, event: int, value: int) -> ConnectionLost:
        """Return the error of a connection that broke."""
        if event == zmq.EVENT_DISCONNECTED:
            return ConnectionLost(op, self.endpoint)
        mismatch = value == _MECHANISM_MISMATCH
        if event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
            mismatch = self._is_mismatch()
        if mismatch:
            return KeysRejected(op, self.endpoint, _NEEDS_KEYS if self._keys is None else _NO_KEYS)
        if self._keys is None:
            # A forwarded port whose other end has closed, or a server that is about to exit.
            return ConnectionLost(op, self.endpoint)
        is_refused = event == zmq.EVENT_HANDSHAKE_FAILED_AUTH
        return KeysRejected(op, self.endpoint, _UNKNOWN_KEYS if is_refused else _OTHER_KEYS)

    def _is_mismatch(self) -> bool:
        """
        Return whether only one of client and server uses keys.

        Both close the connection then.  If the server is first, as in three of four attempts, the
        event has no detail; so this tries often.
        """
        socket = open_socket(zmq.REQ, self._keys)
        socket.reconnect_ivl, socket.reconnect_ivl_max = _PROBE_INTERVAL_MS, 0
        events = ConnectionEvents(socket, _LOST)
        try:
            socket.connect(self.endpoint)
            end = time.monotonic() + _PROBE_SECONDS
            while (left := end - time.monotonic()) > 0 and events.poll(left):
                if events.take()[1] == _MECHANISM_MISMATCH:
                    return True
        finally:
            events.close()
        return False
