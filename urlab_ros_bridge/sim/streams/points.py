# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of 3-D lidars, cast and sent only for those who subscribe to them by name."""

from __future__ import annotations

from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.point_lidar import PointLidar
from urlab_ros_bridge.sim.streams.rows import Send
from urlab_ros_bridge.sim.streams.rows import Wanted
from urlab_ros_bridge.wire.rows import pack_points
from urlab_ros_bridge.wire.rows import POINTS


class PointRows:
    """
    Rows of the 3-D lidars of a world, in ticks that are due, in every mode.

    A new subscriber gets points at once; while time is paused, so do all after a change of state.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rows = [
            (f'{POINTS}{prefix}/{lidar.name}', lidar)
            for prefix, lidars in engine.sensing.point_lidars.items()
            for lidar in lidars
        ]
        self._selected: list[tuple[str, PointLidar]] = []
        self._sent: dict[str, tuple[int, int]] = {}

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        self._selected = [row for row in self._rows if wanted(row[0])]
        topics = {topic for topic, _ in self._selected}
        self._sent = {topic: sent for topic, sent in self._sent.items() if topic in topics}

    def send(self, send: Send) -> None:
        """Cast and send those that are due."""
        if not self._selected:
            return
        data, frame = self._engine.world.data, self._engine.clock.frame_id
        for topic, lidar in self._selected:
            now = (lidar.slot(data.time), frame if self._engine.run.paused else 0)
            if self._sent.get(topic) != now:
                self._sent[topic] = now
                send(topic.encode(), pack_points(*lidar.cast(data)))
