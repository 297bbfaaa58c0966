# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Bounds and bodies of actors.

At rest an actor's geometry is known relative to its own pose, so that moving it costs nothing: the
actor is compiled alone, once, and again only when its files or settings change.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR

_CACHE_SIZE = 64
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)


@dataclass(frozen=True, slots=True)
class Boxes:
    """
    Oriented boxes, one a geom.

    :ivar center: m, shape (n, 3).
    :ivar half: half extents along the box's own axes, m, shape (n, 3).
    :ivar turn: rotation matrices, shape (n, 3, 3).
    :ivar solid: whether the geom can collide, shape (n,).
    """

    center: np.ndarray
    half: np.ndarray
    turn: np.ndarray
    solid: np.ndarray

    def bounds(
        self, pose: Pose | None = None, solid_only: bool = False
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """
        Return the least and the greatest corner in the world, None when there is nothing.

        :param pose: where the boxes' frame is.
        """
        chosen = self.solid if solid_only else np.ones(len(self.solid), bool)
        if not chosen.any():
            return None
        pose = pose or Pose()
        frame = matrix_of(pose.orientation)
        center = self.center[chosen] @ frame.T + pose.position
        reach = np.abs(frame @ self.turn[chosen])
        half = np.einsum('nij,nj->ni', reach, self.half[chosen])
        return (center - half).min(axis=0), (center + half).max(axis=0)


@dataclass(frozen=True, slots=True)
class GeometryBody:
    """A body: local name, index of its parent (-1: none), pose in the actor's frame."""

    name: str
    parent: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class ActorGeometry:
    """
    The geometry of an actor in its own frame, in its reference configuration.

    :ivar members: local names of 'joints', 'actuators', 'sensors' and 'cameras'.
    """

    boxes: Boxes
    bodies: tuple[GeometryBody, ...]
    members: dict[str, list[str]]


def boxes_of(
    model: mujoco.MjModel, data: mujoco.MjData, bodies: Iterable[int] | None = None
) -> Boxes:
    """Return the boxes of the geoms of some bodies (None: all) where they are now."""
    chosen = np.ones(model.ngeom, bool)
    if bodies is not None:
        chosen = np.isin(model.geom_bodyid, list(bodies))
    plane = model.geom_type == _PLANE
    # A plane without a size has no bounds.
    chosen &= ~plane | (model.geom_size[:, :2] > 0).all(axis=1)
    center, half = model.geom_aabb[:, :3].copy(), model.geom_aabb[:, 3:].copy()
    center[plane] = 0.0
    half[plane, :2], half[plane, 2] = model.geom_size[plane, :2], 0.0
    turn = data.geom_xmat.reshape(-1, 3, 3)
    where = data.geom_xpos + np.einsum('nij,nj->ni', turn, center)
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return Boxes(where[chosen], half[chosen], turn[chosen].copy(), solid[chosen])


class GeometryCache:
    """The forms of actors, kept until their files or settings change."""

    def __init__(self, files: ModelFiles = OPERATOR) -> None:
        self._files = files
        self._held: dict[str, ActorGeometry] = {}

    def of(self, actor: LevelActor) -> ActorGeometry:
        """
        Return the form of an actor.

        :raises WorldError: when it does not compile.
        :raises SidecarError: when its settings break the schema.
        """
        stamps = [_stamp(actor.settings.get(key)) for key in ('model', 'file')]
        parts = [actor.kind, actor.settings, stamps]
        key = json.dumps(parts, sort_keys=True, default=str)
        if key not in self._held:
            if len(self._held) >= _CACHE_SIZE:
                del self._held[next(iter(self._held))]
            self._held[key] = _actor_geometry(actor, self._files)
        return self._held[key]


def _stamp(file: str | None) -> list[int]:
    if not file or not Path(file).exists():
        return []
    state = Path(file).stat()
    return [state.st_mtime_ns, state.st_size]


def _actor_geometry(actor: LevelActor, files: ModelFiles) -> ActorGeometry:
    level = Level()
    level.add(LevelActor(actor.kind, 'actor', 'actor', Pose(), actor.settings))
    model = files.work(lambda: assemble(level.spec(), files)[0])
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    bodies = [
        GeometryBody(
            _local(model.body(body).name),
            int(model.body_parentid[body]) - 1,
            pose_of(data.xpos[body], data.xquat[body]),
        )
        for body in range(1, model.nbody)
    ]
    return ActorGeometry(boxes_of(model, data), tuple(bodies), _members(model))


def _members(model: mujoco.MjModel) -> dict[str, list[str]]:
    counts: Sequence[tuple[str, Any, int]] = (
        ('joints', model.joint, model.njnt),
        ('actuators', model.actuator, getattr(model, 'nactuator', model.nu)),
        ('sensors', model.sensor, model.nsensor),
        ('cameras', model.cam, model.ncam),
    )
    return {
        kind: [_local(element(index).name) for index in range(count)]
        for kind, element, count in counts
    }


def _local(name: str) -> str:
    return name.removeprefix('actor_')
