# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Typed replies of the editor's ops.

Lengths are in m.  Quaternions are w, x, y, z here, as everywhere in this client; the wire has x,
y, z, w for these ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema.lenient import read_lenient
from urlab_ros_bridge.schema.lenient import read_lenient_value

MAX_DEPTH = 100  # of an actor's hierarchy
_FOUR = Key(length=4)


def to_wire(quat: Any) -> list[float] | None:
    """Return w, x, y, z as x, y, z, w; None stays None."""
    if quat is None:
        return None
    w, x, y, z = (float(part) for part in quat)
    return [x, y, z, w]


def read_quat(place: Place) -> np.ndarray:
    """Return the x, y, z, w of the wire as w, x, y, z, shape (4,), or (0,) when it is empty."""
    return np.roll(read_lenient_value(np.ndarray, place, _FOUR), 1)


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A template of actors; `imported_now` is false if it was known before."""

    class_path: str = key(wire='blueprint_class_path')
    name: str = key(wire='blueprint_short_name')
    imported_now: bool = False


@dataclass(frozen=True, slots=True)
class Spawned:
    """An actor made by an op; `quat` wxyz, shapes (3,) and (4,), may be empty."""

    actor_id: str
    location: np.ndarray
    was_existing: bool
    requires_pie_restart: bool
    name: str = key(wire='actor_name')
    path: str = key(wire='actor_path')
    blueprint: str = key(wire='blueprint_class_path')
    quat: np.ndarray = key(wire='rotation_quat', parse=read_quat)


@dataclass(frozen=True, slots=True)
class Actor:
    """
    An actor as lists have it.

    :ivar quick_convert: settings of a converted object, else {}.
    :ivar members: local names of a robot's joints, actuators, sensors and cameras (snapshot).
    """

    name: str
    actor_id: str
    location: np.ndarray
    is_articulation: bool
    is_static_mesh_actor: bool
    is_light: bool
    quick_convert: dict[str, Any]
    actor_class: str = key(wire='class')
    quat: np.ndarray = key(wire='rotation_quat', parse=read_quat)
    members: dict[str, Any] = key(wire='urlab')
    raw: dict[str, Any] = key(takes='whole', repr=False)


@dataclass(frozen=True, slots=True)
class LevelSnapshot:
    """Reply to snapshot."""

    actors: tuple[Actor, ...]
    in_pie: bool
    level_path: str


def _children(place: Place) -> tuple[HierarchyNode, ...]:
    if place.path.count('children') > MAX_DEPTH:
        raise place.fail(f'is nested more than {MAX_DEPTH} deep')
    return tuple([read_lenient(HierarchyNode, item) for item in place.items()])


@dataclass(frozen=True, slots=True)
class HierarchyNode:
    """A node of an actor's hierarchy; the root is the actor, below it are bodies."""

    name: str
    location: np.ndarray
    node_class: str = key(wire='class')
    children: tuple[HierarchyNode, ...] = key(parse=_children)


@dataclass(frozen=True, slots=True)
class ActorBounds:
    """World-aligned bounds; `extents` are half sizes.  Shapes (3,)."""

    center: np.ndarray
    extents: np.ndarray
    low: np.ndarray = key(wire='min')
    high: np.ndarray = key(wire='max')


@dataclass(frozen=True, slots=True)
class CameraPose:
    """The viewport's camera: it looks along x, z is up; `fov` horizontal, degrees."""

    location: np.ndarray
    quat: np.ndarray = key(wire='rotation_quat', parse=read_quat)
    euler: np.ndarray = key(wire='rotation_euler')
    fov: float = 0.0


@dataclass(frozen=True, slots=True)
class Play:
    """State of play: off, compiling, compile_failed, timeout or ready; the compiler's message."""

    state: str
    compile_error: str
    sim_time: float | None = None

    @property
    def ready(self) -> bool:
        """Return whether a world is running."""
        return self.state == 'ready'
