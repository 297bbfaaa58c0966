# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state stream on ZeroMQ: rows, state/full and sim_time on one XPUB socket.

XPUB reports the subscriptions, so nothing is built without subscribers.  All methods run with the
engine's lock held; sending never blocks, and a subscriber that is too slow loses messages.
"""

from __future__ import annotations

import time

from urlab_ros_bridge.sim.observe.observer import Observer
from urlab_ros_bridge.sim.observe.rows import BaseRows
from urlab_ros_bridge.sim.observe.rows import CommandRows
from urlab_ros_bridge.sim.observe.rows import EntityRows
from urlab_ros_bridge.sim.observe.rows import JointRows
from urlab_ros_bridge.sim.observe.rows import PointRows
from urlab_ros_bridge.sim.observe.rows import RowGroup
from urlab_ros_bridge.sim.observe.rows import ScannerRows
from urlab_ros_bridge.sim.observe.rows import SensorRows
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.wire.rows import pack_sim_time
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

SEND_QUEUE = 20_000  # messages per subscriber; about half a second of a 40-row robot at 1 kHz
SUBSCRIPTION_CHECK = 0.01  # s


class StatePublisher:
    """Publishes every tick of an engine."""

    def __init__(self, engine: Engine, observer: Observer, publisher: Publisher) -> None:
        """Publish the engine's ticks; the publisher outlives this world."""
        self._engine = engine
        self._observer = observer
        self._publisher = publisher
        self._send = publisher.send
        self._generation = -1
        self._next_check = 0.0
        self._snapshot = self._closing = self._has_subscribers = False
        self._rows: list[RowGroup] = []
        world = engine.world
        for prefix, control in engine.controls.items():
            lidars = engine.sensing.lidars[prefix]
            names = {lidar.name for lidar in lidars}
            self._rows += [
                JointRows(world, control),
                SensorRows(world, control, names),
                ScannerRows(engine, control, lidars),
                BaseRows(world, control),
                CommandRows(engine, control),
            ]
        self._rows += [EntityRows(world, entity) for entity in world.entities.values()]
        self._points = PointRows(engine)
        engine.hooks.publish.append(self.publish)

    def close(self) -> None:
        """End the stream of this world; the socket and its subscriptions are the server's."""

    def publish(self, with_rows: bool) -> None:
        """Send one tick: rows (if live), points, state/full, sim_time; see `EngineHooks`."""
        now = time.perf_counter()
        if now >= self._next_check:
            self._next_check = now + SUBSCRIPTION_CHECK
            self._publisher.read_subscriptions()
            if self._publisher.generation != self._generation:
                self._select()
        if not self._has_subscribers:
            return
        if with_rows:
            for group in self._rows:
                group.send(self._send)
        self._points.send(self._send)
        if self._snapshot:
            self._send(STATE_FULL_TOPIC.encode(), self._observer.snapshot())
        if self._closing:
            self._send(
                SIM_TIME_TOPIC.encode(),
                pack_sim_time(
                    self._engine.clock.stamp_ns, self._engine.clock.steps, time.time_ns()
                ),
            )

    def _select(self) -> None:
        self._generation, wanted = self._publisher.generation, self._publisher.is_subscribed
        for group in self._rows:
            group.select(wanted)
        self._points.select(self._publisher.is_named)
        self._snapshot = wanted(STATE_FULL_TOPIC)
        self._closing = wanted(SIM_TIME_TOPIC)
        self._has_subscribers = self._publisher.has_subscribers
