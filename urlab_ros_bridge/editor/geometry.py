# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Bounds and bodies of actors.

At rest an actor's geometry is known relative to its own pose, so that moving it costs nothing: the
actor is compiled alone, once, and again only when its files or settings change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import mujoco

from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.bounds import Boxes
from urlab_ros_bridge.sim.model.bounds import boxes_of
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR

_CACHE_SIZE = 64


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
