# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How a subscriber notices that the other host has gone without a word."""

from __future__ import annotations

import zmq


def notice_dead_hosts(socket: zmq.Socket) -> None:
    """
    Let the system break a connection that nobody answers for four seconds; it is made anew.

    ZeroMQ's own heartbeats are no way to do it here: in libzmq 4.3.5 they end the process
    (``Assertion failed: !_io_error``) when a connection breaks while the queue is full.
    """
    socket.tcp_keepalive = 1
    socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = 1
    socket.tcp_keepalive_cnt = 3


__all__ = ['notice_dead_hosts']
