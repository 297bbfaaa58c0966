# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions, never for time."""

from contextlib import suppress
import time

from urlab_ros_bridge.transport.server_sockets import SocketInUse
from urlab_ros_bridge.transport.server_sockets import SocketLimits

PATIENCE = 100.0  # s, how long a condition is waited for: machines stall


def wait_until(condition, seconds=PATIENCE, why='', every=0.01):
    """
    Wait until `condition()` is true, and return what it returned.

    :param every: s between two polls; after a second they become rarer.
    """
    begun = time.monotonic()
    while not (value := condition()):
        past = time.monotonic() - begun
        assert past < seconds, why or f'not true within {seconds} s: {condition}'
        time.sleep(every if past < 1.0 else 3.0 * every)
    return value


def bind_when_free(sockets, kind, port, **limits):
    """Bind a socket of `ServerSockets`; libzmq releases a port only after `close` has returned."""

    def bind():
        with suppress(SocketInUse):
            return sockets.bind(kind, '127.0.0.1', port, '', SocketLimits(-1, **limits))

    return wait_until(bind)
