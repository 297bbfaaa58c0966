# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One bridge of a name on each machine: a lock decides before anything is published.

A bridge on another machine, which the lock does not reach, is reported while both run
(`other_publishers`).
"""

from __future__ import annotations

from dataclasses import dataclass
import time

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.reports.name_lock import lock_of
from urlab_ros_bridge.ros.reports.name_lock import NameLock
from urlab_ros_bridge.ros.reports.other_publishers import ADVICE
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

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
