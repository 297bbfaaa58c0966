# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state stream: rows, state/full and sim_time on one XPUB socket, and the snapshots of state.shm.

XPUB reports the subscriptions, and the session directory which files are open, so nothing is built
without readers.  All methods run with the engine's lock held; sending never blocks, a subscriber
that is too slow loses messages.
"""

from __future__ import annotations

import logging
from pathlib import Path
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
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.directory import STATE_FILE
from urlab_ros_bridge.transport.shm.region import SIZE_BYTES
from urlab_ros_bridge.transport.shm.region import STATE_STRIDE
from urlab_ros_bridge.transport.shm.server import OpenWatch
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


_LOG = logging.getLogger(__name__)


class ShmStatePublisher:
    """Publishes the ticks of one world; see `simulation.WorldService`."""

    def __init__(
        self, engine: Engine, observer: Observer, directory: Path, watch: OpenWatch
    ) -> None:
        """
        Make the file; one of the world before is replaced.

        :raises RegionUnavailable: when there is no room for it.
        """
        self._engine = engine
        self._observer = observer
        self._watch = watch
        self._served = self._complained = False
        with engine.lock:
            size = len(observer.snapshot())
        self._writer = RegionWriter.create(directory / STATE_FILE, stride_for(size))
        watch.add(self._writer.region, lambda is_open: None)
        engine.hooks.publish.append(self.publish)

    def publish(self, with_rows: bool) -> None:
        """Write one tick; see `EngineHooks.publish`."""
        writer = self._writer
        if not self._watch.is_open(writer.region):
            if self._served:
                # The next reader must not take this state for a new one.
                self._served = False
                writer.forget()
            return
        self._served = True
        snapshot = self._observer.snapshot()
        if len(snapshot) <= writer.capacity:
            writer.write(snapshot, self._engine.clock.stamp_ns)
        elif not self._complained:
            self._complained = True
            _LOG.warning(
                'the state has %d bytes, %s has room for %d: nothing is written there',
                len(snapshot),
                STATE_FILE,
                writer.capacity,
            )

    def close(self) -> None:
        """Remove the file: readers see that the world has ended."""
        self._watch.remove(self._writer.region)
        self._writer.close(unlink=True)


def stride_for(size: int) -> int:
    """
    Return the stride for snapshots of about this many bytes.

    >>> stride_for(1000), stride_for(9000)
    (16384, 32768)
    """
    stride = STATE_STRIDE
    while stride < 2 * (size + SIZE_BYTES):
        stride *= 2
    return stride
