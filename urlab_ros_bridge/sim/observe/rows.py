# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From MjData to PUB rows.

The hot path of live mode: one preallocated buffer per kind of row is filled by a single indexed
copy, then cut into payloads.  `select` is called when subscriptions change and decides what is
filled and sent at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from urlab_ros_bridge.model import as_index
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.model.named_bodies import NamedBody
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.point_lidar import PointLidar
from urlab_ros_bridge.sim.physics.sensing import RayScanner
from urlab_ros_bridge.wire import rows

Send = Callable[[bytes, bytes], None]
Wanted = Callable[[str], bool]
Cut = tuple[bytes, int, int]  # topic, start and stop within a buffer


class RowGroup(Protocol):
    """Rows that are built together."""

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""

    def send(self, send: Send) -> None:
        """Send the selected rows."""


class JointRows:
    """Rows of hinge, slide and ball joints: id, first slot of qpos, qvel and qacc."""

    def __init__(self, world: World, control: ArticulationControl) -> None:
        robot = control.articulation
        joints = [joint for joint in robot.all_joints if joint.kind != FREE]
        self._data = world.data
        self._topics = [f'{robot.prefix}/joint/{joint.name}' for joint in joints]
        self._qpos = as_index([joint.qpos_address for joint in joints])
        self._dof = as_index([joint.dof_address for joint in joints])
        self._buffer = np.zeros(len(joints), rows.JOINT_DTYPE)
        self._buffer['id'] = [joint.id for joint in joints]
        self._cuts: list[Cut] = []

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        size = rows.JOINT.size
        self._cuts = [
            (topic.encode(), index * size, (index + 1) * size)
            for index, topic in enumerate(self._topics)
            if wanted(topic)
        ]

    def send(self, send: Send) -> None:
        """Send the selected rows."""
        if not self._cuts:
            return
        buffer, data = self._buffer, self._data
        buffer['pos'] = data.qpos[self._qpos]
        buffer['vel'] = data.qvel[self._dof]
        buffer['acc'] = data.qacc[self._dof]
        raw = buffer.tobytes()
        for topic, start, stop in self._cuts:
            send(topic, raw[start:stop])


class SensorRows:
    """Rows of sensors, apart from scanners."""

    def __init__(self, world: World, control: ArticulationControl, scanners: set[str]) -> None:
        articulation = control.articulation
        self._data = world.data
        self._topics: list[Cut] = []
        source: list[int] = []
        target: list[int] = []
        raw = b''
        for sensor in articulation.sensors.values():
            if sensor.name in scanners:
                continue
            start, dim = len(raw), sensor.dim
            raw += rows.SENSOR_HEAD.pack(sensor.id, dim) + bytes(4 * dim)
            source += range(sensor.address, sensor.address + dim)
            target += range(start // 4 + 2, start // 4 + 2 + dim)
            self._topics.append(
                (f'{articulation.prefix}/sensor/{sensor.name}'.encode(), start, len(raw))
            )
        self._buffer = np.frombuffer(bytearray(raw), '<f4')
        self._source, self._target = as_index(source), np.array(target, dtype=np.intp)
        self._cuts: list[Cut] = []

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        self._cuts = [cut for cut in self._topics if wanted(cut[0].decode())]

    def send(self, send: Send) -> None:
        """Send the selected rows."""
        if not self._cuts:
            return
        self._buffer[self._target] = self._data.sensordata[self._source]
        raw = self._buffer.tobytes()
        for topic, start, stop in self._cuts:
            send(topic, raw[start:stop])


class ScannerRows:
    """
    Rows of planar scanners, sent only in ticks that bring a new scan.

    A row has the stamp of its tick, so an older scan is not sent to new subscribers; but while
    time is frozen it is the only one there will be.
    """

    def __init__(
        self, engine: Engine, control: ArticulationControl, lidars: list[RayScanner]
    ) -> None:
        sensors = control.articulation.sensors
        self._engine = engine
        self._data = engine.world.data
        self._rows = [
            (f'{control.articulation.prefix}/sensor/{lidar.name}', lidar, sensors[lidar.name])
            for lidar in lidars
        ]
        self._selected: list[tuple] = []
        self._sent: dict[str, int] = {}

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        self._selected = [row for row in self._rows if wanted(row[0])]
        before, self._sent = self._sent, {}
        for topic, lidar, _ in self._selected:
            held = not (self._engine.run.paused or lidar.is_of(self._data.time))
            self._sent[topic] = before.get(topic, lidar.scans if held else -1)

    def send(self, send: Send) -> None:
        """Send the selected rows that are new."""
        for topic, lidar, sensor in self._selected:
            if self._sent[topic] != lidar.scans:
                self._sent[topic] = lidar.scans
                send(
                    topic.encode(),
                    rows.pack_sensor(sensor.id, self._data.sensordata[sensor.slots]),
                )


class BaseRows:
    """Rows of free joints: position, quaternion xyzw, world-linear and body-angular velocity."""

    def __init__(self, world: World, control: ArticulationControl) -> None:
        robot = control.articulation
        self._data = world.data
        self._rows = [
            (f'{robot.prefix}/base_state/{joint.name}', joint.qpos_address, joint.dof_address)
            for joint in robot.all_joints
            if joint.kind == FREE
        ]
        self._selected: list[tuple[bytes, int, int]] = []
        self._buffer = np.zeros(13, '<f4')

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        self._selected = [(topic.encode(), q, v) for topic, q, v in self._rows if wanted(topic)]

    def send(self, send: Send) -> None:
        """Send the selected rows."""
        buffer, data = self._buffer, self._data
        for topic, q, v in self._selected:
            buffer[0:3] = data.qpos[q : q + 3]
            buffer[3:6] = data.qpos[q + 4 : q + 7]
            buffer[6] = data.qpos[q + 3]
            buffer[7:13] = data.qvel[v : v + 6]
            send(topic, buffer.tobytes())


class CommandRows:
    """The rows twist, actions (when not 0), effort and resets."""

    def __init__(self, engine: Engine, control: ArticulationControl) -> None:
        self._data, self._clock = engine.world.data, engine.clock
        self._control = control
        prefix = control.articulation.prefix
        self._twist, self._actions, self._effort, self._resets = (
            f'{prefix}/{kind}'.encode() for kind in ('twist', 'actions', 'effort', 'resets')
        )
        self._wanted: set[bytes] = set()

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        topics = {self._resets}
        if self._control.articulation.joints:
            topics.add(self._effort)
        if self._control.twist is not None:
            topics |= {self._twist, self._actions}
        self._wanted = {topic for topic in topics if wanted(topic.decode())}

    def send(self, send: Send) -> None:
        """Send the selected rows."""
        wanted, twist = self._wanted, self._control.twist
        if twist is not None:
            if self._twist in wanted:
                send(self._twist, rows.TWIST.pack(*twist.value))
            if self._actions in wanted and twist.actions:
                send(self._actions, rows.ACTIONS.pack(twist.actions))
        if self._effort in wanted:
            torque = self._data.qfrc_actuator[self._control.articulation.scalar_dofs]
            send(self._effort, torque.astype('<f4').tobytes())
        if self._resets in wanted:
            count = self._clock.resets_of(self._control.articulation.prefix)
            send(self._resets, rows.RESETS.pack(count))


class EntityRows:
    """Rows of one entity: float64, quaternions wxyz."""

    def __init__(self, world: World, entity: NamedBody) -> None:
        self._data = world.data
        self._topic = f'{rows.SCENE}/{entity.name}'
        self._sources: list[tuple[str, np.ndarray]] = [
            ('xpos', world.data.xpos[entity.body]),
            ('xquat', world.data.xquat[entity.body]),
        ]
        if entity.free is not None:
            self._sources += [
                ('qpos', world.data.qpos[entity.free.qpos_slots]),
                ('qvel', world.data.qvel[entity.free.dof_slots]),
            ]
        self._selected: list[tuple[bytes, np.ndarray]] = []

    def select(self, wanted: Wanted) -> None:
        """Keep the rows with subscribers."""
        self._selected = [
            (f'{self._topic}/{field}'.encode(), view)
            for field, view in self._sources
            if wanted(f'{self._topic}/{field}')
        ]

    def send(self, send: Send) -> None:
        """Send the selected rows; the views are of MjData itself."""
        for topic, view in self._selected:
            send(topic, view.tobytes())


class PointRows:
    """
    Rows of 3-D lidars, only for those who subscribe by name; in ticks that are due, in every mode.

    A new subscriber gets points at once; while time is paused, so do all after a change of state.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rows = [
            (f'{rows.POINTS}{prefix}/{lidar.name}', lidar)
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
                send(topic.encode(), rows.pack_points(*lidar.cast(data)))
