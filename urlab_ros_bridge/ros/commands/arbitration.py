# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Arbitration between the sources of commands to a robot.

A source claims parts of a robot (actuators, or its base).  It holds a part until it releases it,
or until its lock expires after its last command (simulation time).  Only a source of higher
priority can claim a part that is held, and the previous holder is notified; with
``arbitration: last`` any source can.  An e-stop releases all parts and rejects all claims until it
is released.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
from dataclasses import dataclass
import threading

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.stamp import NANOSECONDS

BASE = 'base'
_FOREVER = 1 << 62


@dataclass(frozen=True)
class ArbitrationParameters:
    """Arbitration between sources."""

    joint_command_lock: float = key(
        0.5,
        'Sources of lower or equal priority cannot take the joints of a joint command for this '
        'long after it (s of simulation time).',
        low=0.0,
        high=60.0,
        live=True,
    )
    arbitration: str = key(
        'priority',
        'Which source can take a joint that another source commands. "priority": only one of '
        'higher priority, in the order joint_trajectory and gripper, joint_commands, cmd_vel. '
        '"last": the most recent one.',
        choices=('priority', 'last'),
        live=True,
    )


@dataclass(frozen=True)
class CommandSource:
    """
    A kind of command.

    :ivar priority: a higher one takes parts away from lower ones.
    :ivar lock: returns for how many seconds it keeps a part after a command; None: until it lets
        go.
    """

    name: str
    priority: int
    lock: Callable[[SettingsReader], float] | None = None


TRAJECTORY = CommandSource('joint_trajectory', 30)
GRIPPER = CommandSource('gripper', 30)
JOINT_COMMANDS = CommandSource(
    'joint_commands', 20, lambda settings: settings(ArbitrationParameters).joint_command_lock
)


@dataclass
class _Hold:
    source: CommandSource
    until_ns: int
    on_lost: Callable[[str], None]


@dataclass
class Stop:
    """
    The state of the e-stop that all arbiters share, also those of robots that are made later.

    :ivar reason: why no source may command, empty when all may.
    """

    reason: str = ''


class Arbiter:
    """
    Decides which source commands the parts of one robot; thread-safe.

    :ivar takeovers: how often a source lost a part to another one.
    """

    def __init__(self, settings: SettingsReader, stop: Stop) -> None:
        self.takeovers = 0
        self._stop, self._closed = stop, ''
        self._settings = settings
        self._holds: dict[Hashable, _Hold] = {}
        self._lock = threading.Lock()

    @property
    def stopped(self) -> str:
        """Return why no source may command, empty when all may."""
        return self._closed or self._stop.reason

    def claim(
        self,
        source: CommandSource,
        parts: Iterable[Hashable],
        now_ns: int,
        on_lost: Callable[[str], None] = lambda by: None,
    ) -> None:
        """
        Take parts, or keep them for longer.

        :param now_ns: simulation time.
        :param on_lost: called with the name of the source that took a part away.
        :raises CommandRejected: when one of them is kept by another source; then none is taken.
        """
        settings, parts = self._settings, tuple(parts)
        until = _FOREVER
        if source.lock is not None:
            until = now_ns + round(source.lock(settings) * NANOSECONDS)
        with self._lock:
            if self.stopped:
                raise CommandRejected(self.stopped)
            holds = (self._holder(part, now_ns) for part in parts)
            lost = [hold for hold in holds if hold and hold.source is not source]
            if settings(ArbitrationParameters).arbitration == 'priority':
                for hold in lost:
                    if hold.source.priority >= source.priority:
                        raise CommandRejected(f'{hold.source.name} is in control')
            for part in parts:
                self._holds[part] = _Hold(source, until, on_lost)
            self.takeovers += len(lost)
        for call in dict.fromkeys(hold.on_lost for hold in lost):
            call(source.name)

    def release(self, source: CommandSource, parts: Iterable[Hashable] | None = None) -> None:
        """Release parts; None: all that the source holds."""
        with self._lock:
            for part in tuple(self._holds) if parts is None else parts:
                hold = self._holds.get(part)
                if hold is not None and hold.source is source:
                    del self._holds[part]

    def clear(self) -> None:
        """Release all parts silently: the caller stops their sources."""
        with self._lock:
            self._holds.clear()

    def close(self, reason: str) -> None:
        """Release all parts silently, and reject all claims from now on: the robot is gone."""
        with self._lock:
            self._closed = reason
            self._holds.clear()

    def report(self, now_ns: int) -> dict[str, int]:
        """Return the sources that are in control, with the number of parts that they have."""
        counts: dict[str, int] = {}
        with self._lock:
            for part in self._holds:
                hold = self._holder(part, now_ns)
                if hold is not None:
                    counts[hold.source.name] = counts.get(hold.source.name, 0) + 1
        return counts

    def _holder(self, part: Hashable, now_ns: int) -> _Hold | None:
        hold = self._holds.get(part)
        return hold if hold is not None and now_ns < hold.until_ns else None


FEATURE = Feature('arbitration', ArbitrationParameters, group='Trajectories and control')
