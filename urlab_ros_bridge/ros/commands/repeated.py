# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Commands that are withdrawn unless their source repeats them.

The server counts simulation time, so while that is frozen it cannot know that a source has ended:
the limit is `command_max_age` of wall time, and the robot does not move when time continues.  What
was given in the last instant before counts as given while it is frozen.
controller_manager repeats every command in each cycle: the limit is that much simulation time.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterable
import math
import threading
from typing import Generic
from typing import NamedTuple
from typing import TypeVar

from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.context import CommandParameters
from urlab_ros_bridge.ros.plan.parameters import DescriptionParameters
from urlab_ros_bridge.wire.stamp import NANOSECONDS

KeyT = TypeVar('KeyT', bound=Hashable)
# Without a new time for this long, time counts as frozen (s of wall time).
_FROZEN_SECONDS = 0.1


class _Given(NamedTuple):
    """When a command was given: simulation time, wall time (s), and whether time was frozen."""

    stamp_ns: int | None
    wall: float
    was_frozen: bool
    by_controllers: bool


class RepeatedCommands(Generic[KeyT]):
    """The commands on one topic that must be repeated, by what they command."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._given: dict[KeyT, _Given] = {}

    def replace(
        self, commanded: Iterable[KeyT], moving: Iterable[KeyT], *, by_controllers: bool = False
    ) -> None:
        """
        Take the newest commands.

        :param commanded: all that they command.
        :param moving: what must be repeated, because it moves something.
        :param by_controllers: whether controller_manager has sent them.
        """
        timeline, now = self._context.timeline, self._context.monotonic()
        was_frozen = now - timeline.last_advance > _FROZEN_SECONDS
        given = _Given(timeline.stamp_ns, now, was_frozen, by_controllers)
        with self._lock:
            for key in commanded:
                self._given.pop(key, None)
            self._given.update(dict.fromkeys(moving, given))

    def clear(self) -> list[KeyT]:
        """Forget all commands, and return them."""
        with self._lock:
            keys = list(self._given)
            self._given.clear()
        return keys

    def take_withdrawn(self, stamp_ns: int) -> dict[str, list[KeyT]]:
        """Return what was not repeated in time, by the reason; call it with each tick."""
        withdrawn: dict[str, list[KeyT]] = {}
        if not self._given:
            return withdrawn
        limit = self._context.settings(CommandParameters).command_max_age or math.inf
        with self._lock:
            for key, given in tuple(self._given.items()):
                if reason := self._reason(given, stamp_ns, limit):
                    withdrawn.setdefault(reason, []).append(key)
                    del self._given[key]
                elif given.stamp_ns != stamp_ns:  # time advances
                    if given.by_controllers:
                        self._given[key] = given._replace(was_frozen=False)
                    else:
                        del self._given[key]
        return withdrawn

    def _reason(self, given: _Given, stamp_ns: int, limit: float) -> str:
        """Return why a command is withdrawn, empty when it remains."""
        context = self._context
        is_unrepeated = context.monotonic() - given.wall > limit
        # controller_manager repeats nothing in a pause: its cycles wait for time.
        is_frozen = given.was_frozen or (given.stamp_ns == stamp_ns and not given.by_controllers)
        if is_unrepeated and is_frozen and not context.stepping.in_lockstep:
            return f'simulation time is frozen, and it was not repeated within {limit:g} s'
        if not given.by_controllers or given.stamp_ns is None:
            return ''
        if (stamp_ns - given.stamp_ns) / NANOSECONDS <= limit:
            return ''
        reason = f'controller_manager has not repeated it for {limit:g} s of simulation time'
        if context.settings(DescriptionParameters).publish_robot_description:
            return reason
        return f'{reason} (has your <ros2_control> block trigger_joint_command_threshold -1?)'
