# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Navigation targets that clients announced, for clients that navigate."""

from __future__ import annotations

from collections import deque
from itertools import count
import time
from typing import Any

from urlab_ros_bridge.wire.ops import NAVIGATION_SECONDS

_MAX_REPORTED = 16


class NavigationTargets:
    """The newest targets of one run of a world; thread-safe."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._targets: deque[tuple[float, dict[str, Any]]] = deque(maxlen=_MAX_REPORTED)

    def announce(self, target: dict[str, Any]) -> int:
        """Add a target; return its id, which grows."""
        number = next(self._ids)
        self._targets.append((time.monotonic(), {'id': number, **target}))
        return number

    def report(self) -> list[dict[str, Any]]:
        """Return the block of a `status` reply, the oldest first."""
        since = time.monotonic() - NAVIGATION_SECONDS
        return [target for announced, target in tuple(self._targets) if announced > since]
