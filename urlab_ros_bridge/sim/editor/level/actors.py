# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actors of a level: its robots, objects and lights, each one an entry of the level's sidecar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import os
from pathlib import Path
from typing import Any

from urlab_ros_bridge.sim.editor.level.transforms import ActorPose
from urlab_ros_bridge.sim.editor.level.transforms import as_vector
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import LightSpec
from urlab_ros_bridge.sim.model.sidecar.specs import ObjectSpec

# Kind of actor -> key of the sidecar's list.
LISTS = {'robot': 'articulations', 'object': 'objects', 'light': 'lights'}
ActorSpec = ArticulationSpec | ObjectSpec | LightSpec
_LIGHT_CLASSES = {'directional': 'DirectionalLight', 'point': 'PointLight', 'spot': 'SpotLight'}
_FILES = ('model', 'file')
LEVELS = 'Levels'  # folder of the data folder that levels are kept in


@dataclass(frozen=True, slots=True)
class LevelActor:
    """
    One actor.

    :ivar kind: robot, object or light.
    :ivar name: unique in the level; prefix of a robot, body or light name of the others.
    :ivar actor_id: how clients call it; unique too.
    :ivar settings: the other keys of its entry; files are absolute paths.
    """

    kind: str
    name: str
    actor_id: str
    pose: ActorPose = field(default_factory=ActorPose)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tags(self) -> list[str]:
        """Return the tags that the stock plugin would give."""
        return [f'URLab.ActorId={self.actor_id}']

    @property
    def physics(self) -> str:
        """Return the physics of an object: none, static, dynamic or mocap."""
        return self.settings.get('physics', 'none') if self.kind == 'object' else 'none'

    @property
    def light_class(self) -> str:
        """Return the class of a light."""
        return _LIGHT_CLASSES[self.settings.get('kind', 'directional')]

    def entry(self, folder: Path | None = None) -> dict[str, Any]:
        """
        Return the sidecar's entry.

        :param folder: paths of files in it or near it become relative; None leaves them absolute.
        """
        settings = dict(self.settings)
        for key in _FILES:
            if folder is not None and settings.get(key):
                settings[key] = relative(settings[key], folder)
        return {
            'prefix' if self.kind == 'robot' else 'name': self.name,
            'actor_id': self.actor_id,
            'pose': {'pos': list(self.pose.pos), 'quat': list(self.pose.quat)},
            **settings,
        }


def read_actor(
    kind: str,
    entry: Mapping[str, Any],
    spec: ActorSpec,
    folder: Path,
) -> LevelActor:
    """
    Return the actor of a checked entry.

    :param spec: what the entry means.
    :param folder: where its relative paths begin.
    """
    settings = {
        key: value
        for key, value in entry.items()
        if key not in ('prefix', 'name', 'actor_id', 'pose') and value is not None
    }
    for key in _FILES:
        if key in settings:
            settings[key] = os.path.realpath(folder / settings[key])
    name = spec.prefix if isinstance(spec, ArticulationSpec) else spec.name
    w, x, y, z = map(float, spec.quat)
    pose = ActorPose(as_vector(spec.pos), (w, x, y, z))
    return LevelActor(kind, name, spec.actor_id, pose, settings)


def relative(text: str, folder: Path) -> str:
    """Return a path relative to `folder` when it is in it or beside it, else unchanged."""
    near = folder.parent if folder.name == LEVELS else folder
    path = Path(text)
    return os.path.relpath(path, folder) if path.is_relative_to(near) else text
