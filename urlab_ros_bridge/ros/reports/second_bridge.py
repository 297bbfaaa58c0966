# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One bridge of a name on each machine: a kernel lock decides before anything is published.

The lock is the name of a Unix socket in the abstract namespace.  The kernel gives a name out once,
and frees it when its socket is closed or its process ends in any way; one that is suspended keeps
it.  A name counts within one network namespace, so for bridges that reach each other by loopback,
whichever users and folders they have: two containers with networks of their own have a name each,
two on the network of the host share one.  Any process can hold a name and so keep a bridge from
starting, as it can publish its topics.

A bridge on another machine, which the lock does not reach, is reported while both run
(`OtherPublishers`).
"""

from __future__ import annotations

from dataclasses import dataclass
import errno
import hashlib
import os
import socket
import sys
import time
import weakref

from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.reports.graph import ADVICE
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

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


# A bridge that is shutting down may hold the lock this long (s), or longer on a busy machine.
_LEAVING_SECONDS = 3.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class SecondBridgeParameters:
    """What to do about a second bridge."""

    second_bridge: str = key(
        'refuse',
        'What to do if a bridge with the same full name runs on this machine and ROS domain. '
        '"refuse": do not start. "warn": publish everything twice. Bridges on other machines are '
        'reported in /diagnostics and in the log.',
        choices=('refuse', 'warn'),
    )


class SecondBridge(UrlabError):
    """A bridge of the same name runs on this machine and ROS domain."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'another bridge named {name} publishes on this ROS domain: {ADVICE}; '
            'to run both anyway, set the parameter second_bridge to "warn"'
        )


def take_name(name: str, lock: NameLock, wait: bool) -> None:
    """
    Take the lock on the name of a bridge.

    :param wait: wait for a bridge that is shutting down; False: continue without the lock.
    :raises SecondBridge: when another bridge keeps it.
    :raises OSError: see `NameLock.take`.
    """
    # Attempts are counted: on a busy machine the other process gets as little time as this one.
    for _ in range(round(_LEAVING_SECONDS / _POLL_SECONDS)):
        if lock.take() or not wait:
            return
        time.sleep(_POLL_SECONDS)
    raise SecondBridge(name)


class BridgeName(Part):
    """Holds the lock on the name of this bridge while it runs."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._lock = lock_of(bridge.node)

    def start(self) -> None:
        """
        Take the lock: a managed node that is not active yet does not hold it.

        :raises SecondBridge: when another bridge keeps it and is to be refused.
        """
        if self._lock is None:
            return
        bridge = self._bridge
        refuses = bridge.settings(SecondBridgeParameters).second_bridge == 'refuse'
        try:
            take_name(bridge.node.get_fully_qualified_name(), self._lock, refuses)
        except OSError as error:
            bridge.log(
                'warning',
                f'cannot lock the name of this bridge ({error.strerror or error}): a second '
                'bridge is reported, but not refused',
            )

    def destroy(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()


FEATURE = Feature('second bridge', SecondBridgeParameters, group='Connection', attach=BridgeName)
