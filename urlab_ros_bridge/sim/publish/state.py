# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state stream: rows, state/full and sim_time on one XPUB socket.

XPUB tells what is subscribed, so nothing is built that nobody reads.  All methods run with the
engine's lock held; sending never blocks, a subscriber that is too slow loses messages.
"""

from __future__ import annotations

import time

import zmq

from urlab_ros_bridge.sim.engine import Engine
from urlab_ros_bridge.sim.observations import Observer
from urlab_ros_bridge.sim.publish.rows import BaseRows
from urlab_ros_bridge.sim.publish.rows import CommandRows
from urlab_ros_bridge.sim.publish.rows import EntityRows
from urlab_ros_bridge.sim.publish.rows import JointRows
from urlab_ros_bridge.sim.publish.rows import ScannerRows
from urlab_ros_bridge.sim.publish.rows import SensorRows
from urlab_ros_bridge.wire import codec
from urlab_ros_bridge.wire.rows import pack_sim_time
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

SEND_QUEUE = 20_000  # messages per subscriber; about half a second of a 40-row robot at 1 kHz
SUBSCRIPTION_CHECK = 0.01  # s
MAX_SUBSCRIPTIONS = 10_000
_FIRST = zmq.SNDMORE | zmq.NOBLOCK


class StatePublisher:
    """Publishes every tick of an engine."""

    def __init__(self, engine: Engine, observer: Observer, socket: zmq.Socket) -> None:
        self._engine = engine
        self._observer = observer
        self._socket = socket
        self._subscribed: set[str] = set()
        self._next_check = 0.0
        self._snapshot = self._closing = False
        self._rows = []
        world = engine.world
        for prefix, control in engine.controls.items():
            lidars = engine.lidars[prefix]
            names = {lidar.name for lidar in lidars}
            self._rows += [
                JointRows(world, control),
                SensorRows(world, control, names),
                ScannerRows(world, control, lidars),
                BaseRows(world, control),
                CommandRows(world, control),
            ]
        self._rows += [EntityRows(world, entity) for entity in world.entities.values()]

    def publish(self, with_rows: bool) -> None:
        """Send one tick: rows (in live mode), state/full, sim_time."""
        now = time.perf_counter()
        if now >= self._next_check:
            self._next_check = now + SUBSCRIPTION_CHECK
            self._read_subscriptions()
        if not self._subscribed:
            return
        if with_rows:
            for group in self._rows:
                group.send(self._send)
        if self._snapshot:
            self._send(STATE_FULL_TOPIC.encode(), codec.pack(self._observer.snapshot()))
        if self._closing:
            self._send(
                SIM_TIME_TOPIC.encode(),
                pack_sim_time(self._engine.stamp_ns, self._engine.steps, time.time_ns()),
            )

    def wanted(self, topic: str) -> bool:
        """Say whether anybody subscribes to a topic."""
        return any(topic.startswith(prefix) for prefix in self._subscribed)

    def _send(self, topic: bytes, payload: bytes) -> None:
        self._socket.send(topic, _FIRST)
        self._socket.send(payload, zmq.NOBLOCK)

    def _read_subscriptions(self) -> None:
        changed = False
        while self._socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            message = self._socket.recv(zmq.NOBLOCK)
            topic = message[1:].decode('utf-8', 'replace')
            if message[:1] == b'\x01' and len(self._subscribed) < MAX_SUBSCRIPTIONS:
                self._subscribed.add(topic)
                changed = True
            elif message[:1] == b'\x00':
                self._subscribed.discard(topic)
                changed = True
        if changed:
            for group in self._rows:
                group.select(self.wanted)
            self._snapshot = self.wanted(STATE_FULL_TOPIC)
            self._closing = self.wanted(SIM_TIME_TOPIC)
