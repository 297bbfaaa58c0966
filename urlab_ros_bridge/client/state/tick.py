# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A tick: the rows of one physics step under one stamp, raw until read as typed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.rows import parse_topic
from urlab_ros_bridge.wire.rows import RowTopic

MAX_CACHED_TOPICS = 1 << 16


class TopicCache(dict[bytes, RowTopic]):
    """Cache of parsed topics, which repeat each tick."""

    def __missing__(self, topic: bytes) -> RowTopic:
        parsed = parse_topic(topic)
        if len(self) < MAX_CACHED_TOPICS:
            self[topic] = parsed
        return parsed


@dataclass(slots=True)
class ArticulationRows:
    """
    Decoded rows of one articulation by local name.

    :ivar twist: vx, vy (m/s), yaw rate (rad/s); None without a row.
    :ivar effort: torque or force of each hinge and slide joint in order of id, None without a row.
    :ivar resets: how often the robot was reset, None without a row.
    """

    joints: dict[str, rows.JointRow] = field(default_factory=dict)
    base_states: dict[str, rows.BaseState] = field(default_factory=dict)
    sensors: dict[str, rows.SensorRow] = field(default_factory=dict)
    points: dict[str, rows.PointsRow] = field(default_factory=dict)
    twist: tuple[float, float, float] | None = None
    actions: int = 0
    effort: np.ndarray | None = None
    resets: int | None = None


@dataclass(slots=True)
class GroupedRows:
    """
    Decoded rows of one tick.

    :ivar entities: name -> {``xpos``, ``xquat``, ``qpos``, ``qvel``: float64 array}.
    :ivar errors: one for each row that could not be decoded.
    """

    articulations: dict[str, ArticulationRows] = field(default_factory=dict)
    entities: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    errors: list[WireError] = field(default_factory=list)


# Kind of row -> attribute of ArticulationRows that holds it by name, and its decoder.
_NAMED: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    'joint': ('joints', rows.unpack_joint),
    'base_state': ('base_states', rows.unpack_base_state),
    'sensor': ('sensors', rows.unpack_sensor),
    'points': ('points', rows.unpack_points),
}
_SINGLE: dict[str, Callable[[bytes], Any]] = {
    'twist': rows.unpack_twist,
    'actions': rows.unpack_actions,
    'effort': rows.unpack_effort,
    'resets': rows.unpack_resets,
}


@dataclass(slots=True, repr=False)
class Tick:
    """
    Everything that the server sent for one physics step.

    The first tick after connecting, and after a change of subscriptions, may lack rows.

    :ivar stamp_ns: simulated time in ns (wall time when `closed_by` is ``wall``).
    :ivar step: the server's counter, -1 when unknown.
    :ivar wall_ns: Unix time at the server in ns, None when not reported.
    :ivar rows: topic and payload in the order of arrival, without state/full, sim_time and points.
    :ivar points: those of 3-D lidars, which come beside rows and beside snapshots.
    :ivar snapshot: raw state/full, None when it was not sent or not subscribed.
    :ivar closed_by: ``sim_time``, ``state_full`` or ``wall``.
    """

    stamp_ns: int
    step: int
    wall_ns: int | None
    rows: list[tuple[bytes, bytes]]
    snapshot: bytes | None
    closed_by: str
    points: list[tuple[bytes, bytes]] = field(default_factory=list)
    _topics: TopicCache = field(default_factory=TopicCache, repr=False, compare=False)
    _state: Snapshot | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Return time, step and contents."""
        snapshot = 'a snapshot' if self.snapshot is not None else 'no snapshot'
        return (
            f'<Tick at {self.stamp_ns * 1e-9:.6g} s, step {self.step}: {len(self.rows)} rows, '
            f'{snapshot}, closed by {self.closed_by}>'
        )

    @classmethod
    def of_reply(cls, result: StepResult, closed_by: str) -> Tick:
        """
        Return the tick of the state that a reply of level ``snapshot`` shows.

        :raises ProtocolError: when its time is not finite.
        """
        state = Snapshot.of_reply(result)
        stamp_ns, wall_ns = state.sim_time_ns, state.wall_time_ns
        return cls(stamp_ns, state.step, wall_ns, [], None, closed_by, _state=state)

    def state(self) -> Snapshot | None:
        """
        Return the decoded snapshot, None when the tick has none.

        :raises WireError: when it cannot be decoded.
        """
        if self._state is None and self.snapshot is not None:
            self._state = decode_snapshot(self.snapshot)
        return self._state

    def stamp_from_snapshot(self) -> None:
        """
        Take time and step from the snapshot, for servers without the sim_time row.

        :raises WireError: when it cannot be decoded.
        :raises ProtocolError: when its time is not finite.
        """
        state = self.state()
        if state is not None:
            self.stamp_ns = state.sim_time_ns
            self.step = state.step
            self.wall_ns = state.wall_time_ns

    def grouped(self) -> GroupedRows:
        """Decode all rows, grouped by articulation and entity; of a repeated row the last wins."""
        out = GroupedRows()
        topics = self._topics
        for topic, payload in (*self.rows, *self.points):
            try:
                _add(out, topics[topic], payload)
            except WireError as error:
                out.errors.append(error)
        return out


def _add(out: GroupedRows, topic: RowTopic, payload: bytes) -> None:
    kind = topic.kind
    if kind == 'scene':
        value = rows.unpack_entity(topic.field, payload)
        out.entities.setdefault(topic.name, {})[topic.field] = value
        return
    named = _NAMED.get(kind)
    value = named[1](payload) if named else _SINGLE[kind](payload)
    robot = out.articulations.get(topic.prefix)
    if robot is None:
        robot = out.articulations[topic.prefix] = ArticulationRows()
    if named:
        getattr(robot, named[0])[topic.name] = value
    else:
        setattr(robot, kind, value)
