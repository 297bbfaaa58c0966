# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Typed replies of the editor's ops.

Lengths are in m.  Quaternions are w, x, y, z here, as everywhere in this client; the wire has x,
y, z, w for these ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

from urlab_ros_bridge.client import fields as f


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What actors are made from; `imported_now` is false for one that was known already."""

    class_path: str
    name: str
    imported_now: bool = False


@dataclass(frozen=True, slots=True)
class Spawned:
    """An actor that an op has made; `quat` wxyz, shapes (3,) and (4,), may be empty."""

    actor_id: str
    name: str
    path: str
    blueprint: str
    location: np.ndarray
    quat: np.ndarray
    was_existing: bool
    requires_pie_restart: bool


@dataclass(frozen=True, slots=True)
class Actor:
    """
    An actor as lists have it.

    :ivar quick_convert: settings of a converted object, else {}.
    :ivar members: local names of a robot's joints, actuators, sensors and cameras (snapshot).
    """

    name: str
    actor_class: str
    actor_id: str
    location: np.ndarray
    quat: np.ndarray
    is_articulation: bool
    is_static_mesh_actor: bool
    is_light: bool
    quick_convert: dict[str, Any]
    members: dict[str, Any]
    raw: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Reply to snapshot."""

    actors: tuple[Actor, ...]
    in_pie: bool
    level_path: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node of an actor's hierarchy; the root is the actor, below it are bodies."""

    name: str
    node_class: str
    location: np.ndarray
    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """World-aligned bounds; `extents` are half sizes.  Shapes (3,)."""

    low: np.ndarray
    high: np.ndarray
    center: np.ndarray
    extents: np.ndarray


@dataclass(frozen=True, slots=True)
class CameraPose:
    """The viewport's camera: it looks along x, z is up; `fov` horizontal, degrees."""

    location: np.ndarray
    quat: np.ndarray
    euler: np.ndarray
    fov: float


@dataclass(frozen=True, slots=True)
class Play:
    """State of play: off, compiling, compile_failed, timeout or ready; the compiler's message."""

    state: str
    compile_error: str
    sim_time: float | None = None

    @property
    def ready(self) -> bool:
        """Return whether a world runs."""
        return self.state == 'ready'


def to_wire(quat: Any) -> list[float] | None:
    """Return w, x, y, z as x, y, z, w; None stays None."""
    if quat is None:
        return None
    w, x, y, z = (float(part) for part in quat)
    return [x, y, z, w]


def from_wire(fields: Mapping[str, Any], where: str) -> np.ndarray:
    """Return the rotation_quat of a reply as w, x, y, z, shape (4,), or (0,) when it is absent."""
    quat = f.vector(fields, 'rotation_quat', where)
    if len(quat) not in (0, 4):
        raise f.wrong(f'{where}.rotation_quat', quat.tolist(), 'four numbers')
    return np.roll(quat, 1)


def parse_spawned(reply: Mapping[str, Any], where: str, blueprint: str = '') -> Spawned:
    """Read the reply of an op that makes an actor, or a cell of spawn_grid."""
    return Spawned(
        f.text(reply, 'actor_id', where),
        f.text(reply, 'actor_name', where),
        f.text(reply, 'actor_path', where),
        f.text(reply, 'blueprint_class_path', where, blueprint),
        f.vector(reply, 'location', where),
        from_wire(reply, where),
        f.flag(reply, 'was_existing', where),
        f.flag(reply, 'requires_pie_restart', where),
    )


def parse_actor(row: Mapping[str, Any], where: str) -> Actor:
    """Read a row of list_actors, find_actors or snapshot."""
    return Actor(
        f.text(row, 'name', where),
        f.text(row, 'class', where),
        f.text(row, 'actor_id', where),
        f.vector(row, 'location', where),
        from_wire(row, where),
        f.flag(row, 'is_articulation', where),
        f.flag(row, 'is_static_mesh_actor', where),
        f.flag(row, 'is_light', where),
        f.mapping(row, 'quick_convert', where),
        f.mapping(row, 'urlab', where),
        dict(row),
    )


def parse_node(value: Mapping[str, Any], where: str, depth: int = 0) -> Node:
    """
    Read a node of actor_hierarchy.

    :raises ProtocolError: also when it is nested more than 200 deep.
    """
    if depth > 200:
        raise f.wrong(where, '...', 'at most 200 levels')
    return Node(
        f.text(value, 'name', where),
        f.text(value, 'class', where),
        f.vector(value, 'location', where),
        tuple(parse_node(child, where, depth + 1) for child in f.maps(value, 'children', where)),
    )


def parse_bounds(reply: Mapping[str, Any]) -> Bounds:
    """Read a get_actor_bounds reply."""
    where = 'get_actor_bounds_ok'
    return Bounds(*(f.vector(reply, key, where) for key in ('min', 'max', 'center', 'extents')))


def parse_camera(reply: Mapping[str, Any], where: str) -> CameraPose:
    """Read the camera of a viewport reply."""
    return CameraPose(
        f.vector(reply, 'location', where),
        from_wire(reply, where),
        f.vector(reply, 'rotation_euler', where),
        f.number(reply, 'fov', where, 0.0),
    )


def parse_play(reply: Mapping[str, Any], where: str) -> Play:
    """Read the state of a begin_pie or pie_status reply."""
    time = reply.get('sim_time')
    return Play(
        f.text(reply, 'state', where),
        f.text(reply, 'compile_error', where),
        None if time is None else f.number(reply, 'sim_time', where),
    )
