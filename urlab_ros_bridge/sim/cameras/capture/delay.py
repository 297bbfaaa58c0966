# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""States in transit: captured by a camera with latency and not yet delivered."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import NamedTuple

from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture


class Delayed(NamedTuple):
    """A captured state and when it is to be delivered."""

    release_ns: int
    camera: int
    capture: Capture
    state: bytes


class DelayLine:
    """Holds states, not pictures: they are small, and drawn when they are due."""

    def __init__(self) -> None:
        self._items: deque[Delayed] = deque()

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, item: Delayed) -> None:
        """Hold a state back."""
        self._items.append(item)

    def drop(self, cameras: Container[int] | None = None) -> None:
        """Forget what is on its way for these cameras, None = for all."""
        self._items = deque(
            item for item in self._items if cameras is not None and item.camera not in cameras
        )

    def due(self, now_ns: int) -> dict[Capture, list[Delayed]]:
        """Take out what is due, by capture; of two due frames of a camera the newer one."""
        ready: dict[int, Delayed] = {}
        rest: deque[Delayed] = deque()
        for item in self._items:
            if item.release_ns <= now_ns:
                ready[item.camera] = item
            else:
                rest.append(item)
        self._items = rest
        groups: dict[Capture, list[Delayed]] = {}
        for item in ready.values():
            groups.setdefault(item.capture, []).append(item)
        return groups

    def times(self) -> list[int]:
        """Return when something will be due."""
        return [item.release_ns for item in self._items]


__all__ = ['DelayLine', 'Delayed']
