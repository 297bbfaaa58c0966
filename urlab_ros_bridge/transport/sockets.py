# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sockets of ZeroMQ; those of clients drop unsent messages, reconnect and notice dead hosts."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.transport.keys import ClientKeys

_RECONNECT_MS, _MAX_RECONNECT_MS = 100, 1000
_KEEPALIVE_SECONDS, _PROBES = 1, 3
_READABLE = int(zmq.POLLIN)
_EVENTS = int(zmq.EVENTS)
_LOCAL = ('localhost', '::1', '[::1]')


def open_socket(kind: int, keys: ClientKeys | None = None) -> zmq.Socket[bytes]:
    """
    Open a socket that is not connected yet.

    TCP keepalive breaks a connection that is unanswered for four seconds.  ZeroMQ's own heartbeats
    do not work here: in libzmq 4.3.5 they end the process (``Assertion failed: !_io_error``) when
    a connection breaks while the queue of a SUB socket is full.

    :param kind: such as `zmq.SUB`.
    :param keys: for a server that accepts encrypted connections only.
    """
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    socket = context.socket(kind)
    socket.linger = 0
    socket.reconnect_ivl, socket.reconnect_ivl_max = _RECONNECT_MS, _MAX_RECONNECT_MS
    socket.tcp_keepalive = 1
    socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = _KEEPALIVE_SECONDS
    socket.tcp_keepalive_cnt = _PROBES
    if keys is not None:
        keys.protect(socket)
    return socket


def readable(socket: zmq.Socket[bytes]) -> bool:
    """Return whether a message can be received at once."""
    events = socket.getsockopt(_EVENTS)
    return isinstance(events, int) and events & _READABLE != 0


def yielding_readable(socket: zmq.Socket[bytes]) -> bool:
    """
    Return what `readable` does, while other threads of Python go on.

    XPUB and SUB sockets first process all subscriptions and discard all unwanted messages that
    have arrived, which takes as long as a hostile peer sends them.
    """
    return bool(zmq.zmq_poll([(socket, _READABLE)], 0))


def is_local(host: str) -> bool:
    """
    Return whether a host name certainly means this machine.

    >>> is_local('127.0.0.1'), is_local('localhost'), is_local('robot.local')
    (True, True, False)
    """
    return host in _LOCAL or host.startswith('127.')
