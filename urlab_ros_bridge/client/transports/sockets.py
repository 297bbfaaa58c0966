# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sockets of a client: they drop unsent messages, reconnect and notice dead hosts."""

from __future__ import annotations

import socket as sockets

import zmq

from urlab_ros_bridge.transport.keys import ClientKeys


def open_socket(kind: int, keys: ClientKeys | None = None) -> zmq.Socket[bytes]:
    """
    Return a socket of a kind, as `zmq.SUB`.

    :param keys: for a server that lets in encrypted connections alone.

    A connection that is refused or breaks is retried after 0.1 to 1 s.
    """
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    socket = context.socket(kind)
    socket.linger = 0
    socket.reconnect_ivl = 100
    socket.reconnect_ivl_max = 1000
    if keys is not None:
        keys.protect(socket)
    return socket


_IDLE_SECONDS, _PROBES = 1, 3


def notice_dead_hosts(socket: zmq.Socket[bytes]) -> None:
    """
    Let the system break a connection that is unanswered for four seconds; it is reopened.

    ZeroMQ's own heartbeats do not work here: in libzmq 4.3.5 they end the process
    (``Assertion failed: !_io_error``) when a connection breaks while the queue is full.
    """
    socket.tcp_keepalive = 1
    socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = _IDLE_SECONDS
    socket.tcp_keepalive_cnt = _PROBES


def resolve(host: str, port: int) -> tuple[str, int]:
    """
    Return the IPv4 address of a host, and the port.

    :raises OSError: when the name is not known, or none that a host can have.
    """
    try:
        found = sockets.getaddrinfo(host, port, sockets.AF_INET, sockets.SOCK_STREAM)
    except UnicodeError as error:  # a label that is empty or has more than 63 characters
        raise OSError(f'{host!r} is not a valid host name: {error}') from error
    address, number = found[0][4][:2]
    return str(address), int(number)


def keep_alive(socket: sockets.socket) -> None:
    """Do what `notice_dead_hosts` does, for a TCP socket without libzmq."""
    socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
    for option, value in (
        ('TCP_KEEPIDLE', _IDLE_SECONDS),
        ('TCP_KEEPINTVL', _IDLE_SECONDS),
        ('TCP_KEEPCNT', _PROBES),
    ):
        if hasattr(sockets, option):  # not everywhere
            socket.setsockopt(sockets.IPPROTO_TCP, getattr(sockets, option), value)


__all__ = ['keep_alive', 'notice_dead_hosts', 'open_socket', 'resolve']
