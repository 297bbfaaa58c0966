# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for descriptors whose numbers may be large: `select.select` refuses those above 1023."""

from __future__ import annotations

from collections.abc import Sequence
import math
import select
import socket


def wait_readable(
    sockets: Sequence[socket.socket], timeout: float | None = None
) -> list[socket.socket]:
    """
    Return the sockets from which something can be read, or that have ended.

    :param timeout: seconds; None waits forever.
    """
    poller = select.poll()
    for each in sockets:
        poller.register(each, select.POLLIN)
    found = poller.poll(None if timeout is None else math.ceil(timeout * 1000))
    ready = {descriptor for descriptor, _ in found}
    return [each for each in sockets if each.fileno() in ready]


__all__ = ['wait_readable']
