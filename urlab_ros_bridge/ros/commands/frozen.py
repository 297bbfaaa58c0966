# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Commands that were given while simulation time is frozen.

The server counts simulation time, so it cannot know that their source has ended.  Unless they are
repeated, they are withdrawn after `command_max_age` of wall time: the robot must not move when
time continues.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterable
import threading
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.context import CommandParameters

KeyT = TypeVar('KeyT', bound=Hashable)
# Without a new time for this long, time counts as frozen (s of wall time).
_FROZEN_SECONDS = 0.1


class FrozenCommands(Generic[KeyT]):
    """The commands on one topic since time has advanced last, by what they command."""

    def __init__(self, context: CommandContext, topic: str) -> None:
        self._context = context
        self._topic = topic
        self._lock = threading.Lock()
        # Simulation time and wall time (s) at which each was given.
        self._given: dict[KeyT, tuple[int | None, float]] = {}

    @property
    def is_frozen(self) -> bool:
        """Whether time has not advanced for a moment."""
        context = self._context
        return context.monotonic() - context.timeline.last_advance > _FROZEN_SECONDS

    def replace(self, commanded: Iterable[KeyT], moving: Iterable[KeyT]) -> None:
        """
        Take the newest commands.

        :param commanded: all that they command; `moving`: what they move.
        """
        given = self._context.timeline.stamp_ns, self._context.monotonic()
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

    def take_withdrawn(self, stamp_ns: int) -> list[KeyT]:
        """Return what was not repeated in time; call it with each tick."""
        if not self._given:
            return []
        context, withdrawn = self._context, []
        limit, now = context.settings(CommandParameters).command_max_age, context.monotonic()
        with self._lock:
            for key, (given_ns, received) in tuple(self._given.items()):
                is_old = 0 < limit < now - received and not context.link.lockstep
                if is_old:
                    withdrawn.append(key)
                if is_old or given_ns != stamp_ns:  # time advances again
                    del self._given[key]
        return withdrawn

    def report(self, what: str) -> None:
        """Count and log a withdrawal."""
        limit = self._context.settings(CommandParameters).command_max_age
        text = f'simulation time is frozen, and it was not repeated within {limit:g} s'
        self._context.rejections.add(self._topic, CommandRejected(f'{what}withdrawn: {text}'))
