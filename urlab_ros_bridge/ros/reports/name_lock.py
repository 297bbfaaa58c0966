# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A kernel lock on the full name of a bridge: one process of a machine holds it.

The lock is the name of a Unix socket in the abstract namespace.  The kernel gives a name out once,
and frees it when its socket is closed or its process ends in any way; one that is stopped keeps
it.  A name counts within one network namespace, so for bridges that reach each other by loopback,
whichever users and folders they have: two containers with networks of their own have a
name each, two on the network of the host share one.  There is no file, so nothing is left behind,
and no folder has to be writable.

Any process on the machine can hold a name and so keep a bridge from starting, as it can publish
its topics.
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
import weakref

from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier

# Variables that separate nodes of one domain on one machine: bridges that differ in them have
# different locks.  Those of profiles are not among them: only `urlab up` sets one.
PARTING = ('ROS_DISCOVERY_SERVER', 'ROS_SECURITY_ENABLE')


class NameLock:
    """The lock on one name; its holder is the object, not the process."""

    def __init__(self, name: str) -> None:
        """
        Hold nothing yet.

        :param name: any text.
        """
        digest = hashlib.sha256(name.encode()).hexdigest()
        # The NUL at its start makes it abstract; `ss -xa` shows the rest.
        self._address = f'\0urlab_ros_bridge/{digest[:32]}'
        self._socket: socket.socket | None = None

    def take(self) -> bool:
        """
        Take the lock without waiting, and return whether it is held now.

        :raises OSError: when this system has no such locks, or a sandbox refuses them.
        """
        if self._socket is not None:
            return True
        if sys.platform != 'linux':
            raise OSError(errno.ENOTSUP, 'only Linux has abstract sockets')
        # It never listens, so no connection is possible; child processes do not inherit it.
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            taken.bind(self._address)
        except OSError as error:
            taken.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        self._socket = taken
        _held.add(self)
        return True

    def release(self) -> None:
        """Release the lock, if it is held."""
        held, self._socket = self._socket, None
        if held is not None:
            held.close()


_held: weakref.WeakSet[NameLock] = weakref.WeakSet()


def _release_in_fork() -> None:
    """Close what a fork without exec has inherited: it could outlive the bridge."""
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_release_in_fork)


def lock_of(node: Node) -> NameLock | None:
    """Return the lock on the full name of a node; None when no other node can discover it."""
    value = os.environ.get
    # As rcl reads them: the older variable prevails.
    if value('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'OFF' and value('ROS_LOCALHOST_ONLY') != '1':
        return None
    parts = (
        node.context.get_domain_id(),
        node.get_fully_qualified_name(),
        get_rmw_implementation_identifier(),
        *map(value, PARTING),
    )
    return NameLock(repr(parts))
