# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The raw values of one tick, by robot, from either dialect of the wire.

Rows are put into slots as they are and decoded only when a topic with subscribers asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import TypeGuard

import numpy as np

from urlab_ros_bridge import geometry
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.client.replies.observations import EntityObservation
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import MalformedRow
from urlab_ros_bridge.wire.rows import BASE_STATE
from urlab_ros_bridge.wire.rows import JOINT
from urlab_ros_bridge.wire.rows import JOINT_DTYPE
from urlab_ros_bridge.wire.rows import POINTS
from urlab_ros_bridge.wire.rows import PointsRow
from urlab_ros_bridge.wire.rows import unpack_entity
from urlab_ros_bridge.wire.rows import unpack_points
from urlab_ros_bridge.wire.rows import unpack_resets
from urlab_ros_bridge.wire.rows import unpack_sensor

Pose = tuple[Any, Any]
# Position, velocity and effort, each of shape (joints,).
JointArrays = tuple[np.ndarray, np.ndarray, np.ndarray]


class RobotState:
    """
    One robot in one tick.  Every reader returns None for what the tick does not hold.

    :ivar odom_in_world: returns the pose of the odometry frame, None while it is not known.
    :raises WireError: every reader, for bytes or fields that do not follow the protocol.
    """

    def __init__(self, plan: RobotPlan) -> None:
        self.prefix = plan.prefix
        self.odom_in_world: Callable[[], geometry.Pose | None] = lambda: geometry.AT_ORIGIN
        self._count = len(plan.joints)
        self._unknown = np.full(self._count, np.nan)
        self._qpos = np.array(plan.qpos, np.intp)
        self._qvel = np.array(plan.qvel, np.intp)
        self._base_slots = (plan.base_qpos, plan.base_qvel)
        names = [f'{plan.prefix}/joint/{name}' for name in plan.joints]
        names += [f'{plan.prefix}/effort', f'{plan.prefix}/base_state/{plan.base_joint}']
        names.append(f'{plan.prefix}/resets')
        self._sensors = {name: len(names) + index for index, name in enumerate(plan.sensor_names)}
        names += [f'{plan.prefix}/sensor/{name}' for name in plan.sensor_names]
        self._points = {
            scanner.lidar.name: len(names) + index
            for index, scanner in enumerate(plan.point_scanners)
        }
        names += [f'{POINTS}{plan.prefix}/{name}' for name in self._points]
        self.topics = [name.encode() for name in names]
        self._blank: list[bytes | None] = [None] * len(names)
        self.slots = list(self._blank)
        self.snapshot: ArticulationState | None = None
        self.tick: Tick | None = None

    def clear(self) -> None:
        """Forget the last tick."""
        self.slots[:] = self._blank
        self.snapshot = self.tick = None

    def positions(self) -> np.ndarray | None:
        """Return the robot's own qpos, which only snapshots hold: also beside rows."""
        state = self.snapshot
        if state is None and self.tick is not None:
            beside = self.tick.state()
            state = None if beside is None else beside.articulations.get(self.prefix)
        return None if state is None else state.qpos

    def joints(self) -> JointArrays | None:
        """Return position, velocity and effort, each of shape (joints,); NaN: not known."""
        if self.snapshot is not None:
            return self._snapshot_joints(self.snapshot)
        parts = self.slots[: self._count]
        if not _complete(parts):
            return None
        data = b''.join(parts)
        if len(data) != JOINT.size * self._count:
            raise MalformedRow(f'{self.prefix}/joint', len(data), f'{JOINT.size} for each joint')
        rows = np.frombuffer(data, JOINT_DTYPE)
        return rows['pos'], rows['vel'], self._row_effort()

    def base(self) -> tuple[float, ...] | None:
        """Return the 13 numbers of a base_state row, see `wire.rows`."""
        if self.snapshot is not None:
            return self._snapshot_base(self.snapshot)
        payload = self.slots[self._count + 1]
        if payload is None:
            return None
        if len(payload) != BASE_STATE.size:
            raise MalformedRow(f'{self.prefix}/base_state', len(payload), f'{BASE_STATE.size}')
        return BASE_STATE.unpack(payload)

    def resets(self) -> int | None:
        """Return how often the robot was reset."""
        if self.snapshot is not None:
            return self.snapshot.resets
        payload = self.slots[self._count + 2]
        return None if payload is None else unpack_resets(payload)

    def sensor(self, name: str) -> np.ndarray | None:
        """Return the values of a sensor, shape (dim,)."""
        if self.snapshot is not None:
            return self.snapshot.sensors.get(name)
        payload = self.slots[self._sensors[name]]
        return None if payload is None else unpack_sensor(payload).values

    def points(self, name: str) -> PointsRow | None:
        """Return the points of a 3-D lidar, which snapshots do not hold."""
        payload = self.slots[self._points[name]]
        return None if payload is None else unpack_points(payload)

    def points_row(self, name: str) -> tuple[bytes, ...]:
        """Return the topic of the wire with the points of a 3-D lidar, alone."""
        return (self.topics[self._points[name]],)

    def scan_stamp(self, name: str) -> int | None:
        """Return when the scan in a snapshot was made (ns), None where the server does not say."""
        return None if self.snapshot is None else self.snapshot.scan_stamps.get(name)

    def _row_effort(self) -> np.ndarray:
        payload = self.slots[self._count]
        if payload is None or len(payload) != 4 * self._count:
            return self._unknown
        return np.frombuffer(payload, '<f4')

    def _snapshot_joints(self, state: ArticulationState) -> JointArrays | None:
        qpos, qvel = state.qpos, state.qvel
        if not len(self._qpos) or len(qpos) <= self._qpos[-1] or len(qvel) <= self._qvel[-1]:
            return None
        effort = state.effort if len(state.effort) == self._count else self._unknown
        return qpos[self._qpos], qvel[self._qvel], effort

    def _snapshot_base(self, state: ArticulationState) -> tuple[float, ...] | None:
        start, speed = self._base_slots
        if start < 0 or len(state.qpos) < start + 7 or len(state.qvel) < speed + 6:
            return None
        x, y, z, qw, qx, qy, qz = state.qpos[start : start + 7].tolist()
        return (x, y, z, qx, qy, qz, qw, *state.qvel[speed : speed + 6].tolist())


def _complete(parts: list[bytes | None]) -> TypeGuard[list[bytes]]:
    return None not in parts


class EntityPose:
    """The pose of one entity in one tick."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.topics = [f'scene/{name}/{field}'.encode() for field in ('xpos', 'xquat')]
        self.slots: list[bytes | None] = [None, None]
        self.snapshot: EntityObservation | None = None

    def clear(self) -> None:
        """Forget the last tick."""
        self.slots[:] = (None, None)
        self.snapshot = None

    def pose(self) -> Pose | None:
        """
        Return position (m) and quaternion wxyz in the world.

        :raises WireError: for a row of the wrong length.
        """
        if self.snapshot is not None:
            state = self.snapshot
            return (state.xpos, state.xquat) if len(state.xquat) == 4 else None
        position, quaternion = self.slots
        if position is None or quaternion is None:
            return None
        return unpack_entity('xpos', position), unpack_entity('xquat', quaternion)


class WorldState:
    """All robots and entities in one tick."""

    def __init__(self, plan: WorldPlan) -> None:
        self.robots = {robot.prefix: RobotState(robot) for robot in plan.robots}
        self.entities = {name: EntityPose(name) for name in plan.entities}
        self._members: list[RobotState | EntityPose] = [
            *self.robots.values(),
            *self.entities.values(),
        ]
        self._places = {
            topic: (member.slots, index)
            for member in self._members
            for index, topic in enumerate(member.topics)
        }

    def fill(self, tick: Tick) -> bool:
        """
        Take the values of a tick: its rows, or its snapshot when there are none of use.

        :return: whether there was anything.
        :raises WireError: when the snapshot cannot be read.
        """
        for member in self._members:
            member.clear()
        places, found = self._places, False
        for topic, payload in tick.rows:
            place = places.get(topic)
            if place is not None:
                place[0][place[1]] = payload
                found = True
        has_points = False
        for topic, payload in tick.points:
            if topic in places:
                slots, index = places[topic]
                slots[index] = payload
                has_points = True
        snapshot = None if found else tick.state()
        if snapshot is not None:
            self._fill_snapshot(snapshot)
            return True
        for robot in self.robots.values():
            robot.tick = tick
        return found or has_points

    def _fill_snapshot(self, snapshot: Snapshot) -> None:
        for prefix, state in snapshot.articulations.items():
            if prefix in self.robots:
                self.robots[prefix].snapshot = state
        for name, entity in snapshot.entities.items():
            if name in self.entities:
                self.entities[name].snapshot = entity
