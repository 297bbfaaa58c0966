# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""When a camera takes an image, and when it delivers it: pure functions of simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
import math
from typing import NamedTuple
import zlib

import numpy as np

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.jobs import Capture


class Schedule:
    """
    The clock of one camera.

    Captures lie on the grid of multiples of 1 / rate, so cameras of one rate capture together and
    their frames carry the same stamp.
    """

    def __init__(self, camera: CameraItem) -> None:
        self._rate = camera.rate
        self._latency, self._jitter = camera.latency, camera.jitter
        name = f'{camera.prefix}/{camera.name}'
        self._name = zlib.crc32(name.encode())
        self._random = np.random.default_rng([camera.seed, self._name])
        self._is_uniform = False  # the jitter; else its standard deviation
        self._last: int | None = None
        self._released = 0

    @property
    def delayed(self) -> bool:
        """Return whether frames are delivered later than they are taken."""
        return self._latency > 0 or self._jitter > 0

    def set_delay(self, delay: float, jitter: float, seed: int) -> None:
        """Deliver `delay` plus or minus at most `jitter` s late, uniformly distributed."""
        self._latency, self._jitter, self._is_uniform = delay, jitter, True
        self._random = np.random.default_rng([seed % 2**63, self._name])
        self.restart()

    def restart(self) -> None:
        """Make the camera due now: time has started over, or there is a new viewer."""
        self._last = None
        self._released = 0

    def due(self, stamp_ns: int) -> bool:
        """Return whether an image is due at this time."""
        return self._last is None or self._cell(stamp_ns) != self._last

    def take(self, stamp_ns: int) -> None:
        """Record that an image was taken."""
        self._last = self._cell(stamp_ns)

    def next_ns(self) -> int:
        """Return the first nanosecond at which `due` becomes true."""
        if self._last is None:
            return -(2**62)
        return math.ceil((self._last + 1) / self._rate * 1e9 - 1e-3)

    def release_ns(self, stamp_ns: int) -> int:
        """Return when an image taken now is delivered: with random jitter, but in order."""
        delay = self._latency
        if self._jitter:
            random = self._random
            spread = random.uniform(-1, 1) if self._is_uniform else random.standard_normal()
            delay = max(0.0, delay + self._jitter * spread)
        self._released = max(self._released, stamp_ns + round(delay * 1e9))
        return self._released

    def _cell(self, stamp_ns: int) -> int:
        # The small part keeps 0.1 s of a 10 Hz camera out of the cell before it.
        return math.floor(stamp_ns * self._rate / 1e9 + 1e-9)


class Delayed(NamedTuple):
    """A captured state and the time of its delivery."""

    release_ns: int
    camera: int
    capture: Capture
    state: bytes


class DelayLine:
    """Holds states instead of images: they are small, and rendered when they are due."""

    def __init__(self) -> None:
        self._items: deque[Delayed] = deque()

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, item: Delayed) -> None:
        """Hold a state back."""
        self._items.append(item)

    def drop(self, cameras: Container[int] | None = None) -> None:
        """Drop the states of these cameras; None means all."""
        self._items = deque(
            item for item in self._items if cameras is not None and item.camera not in cameras
        )

    def due(self, now_ns: int) -> dict[Capture, list[Delayed]]:
        """Remove and return what is due, by capture; of two due frames of a camera the newer."""
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
        """Return the times at which states are due."""
        return [item.release_ns for item in self._items]
