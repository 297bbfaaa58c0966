# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time and what is counted with it."""

from __future__ import annotations

import mujoco

from urlab_ros_bridge.wire.stamp import seconds_to_ns


class WorldClock:
    """
    Time and counters of one world.

    :ivar steps: sub-steps since the start or the last time reset.
    :ivar epoch: how often time and `steps` started over.
    :ivar resets: how often the state or the time was set back: earlier commands were meant for
        another state.
    :ivar frame_id: number of the present state, for cameras; it grows with every change of the
        state, over resets too.
    :ivar divergences: how often the simulation became unstable; resets do not lower it.
    """

    def __init__(self, data: mujoco.MjData) -> None:
        self._data = data
        self.steps = self.epoch = self.resets = self.frame_id = self.divergences = 0

    @property
    def stamp_ns(self) -> int:
        """Return the simulation time as integer nanoseconds."""
        return seconds_to_ns(self._data.time)

    @property
    def counter(self) -> tuple[int, int]:
        """Return (epoch, steps) as they are now."""
        return self.epoch, self.steps

    def steps_since(self, base: tuple[int, int]) -> int:
        """Return the sub-steps since a `counter`; a time reset in between counts from there."""
        epoch, steps = base
        return self.steps - steps if epoch == self.epoch else self.steps

    def restart(self, steps: int = 0) -> None:
        """Begin another epoch, after so many steps of it."""
        self.epoch += 1
        self.steps = steps

    def resume(self, other: WorldClock) -> None:
        """Continue the counts of the world that this one replaces; its time is carried with it."""
        for name in ('steps', 'epoch', 'resets', 'frame_id', 'divergences'):
            setattr(self, name, getattr(other, name))


__all__ = ['WorldClock']
