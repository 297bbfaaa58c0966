# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A level: an editable world description.

A level has the content of a sidecar (docs/sidecar.md): `urlab server --model` runs a saved one.
Everything here is data; nothing is compiled before play begins or bounds are requested.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import os
from pathlib import Path
from typing import Any

import yaml

from urlab_ros_bridge.editor.transforms import as_vector
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.mjcf_import import split_file
from urlab_ros_bridge.sim.model.naming import name_unnamed
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import parse_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import LightSpec
from urlab_ros_bridge.sim.model.sidecar.specs import ObjectSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix

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
    :ivar actor_id: its name for clients; also unique.
    :ivar settings: the other keys of its entry; files are absolute paths.
    """

    kind: str
    name: str
    actor_id: str
    pose: Pose = field(default_factory=Pose)
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
            'pose': {
                'pos': list(self.pose.position),
                'quat': list(xyzw_to_wxyz(self.pose.orientation)),
            },
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

    :param spec: the parsed entry.
    :param folder: that its relative paths start from.
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
    pose = Pose(as_vector(spec.pos), wxyz_to_xyzw([float(part) for part in spec.quat]))
    return LevelActor(kind, name, spec.actor_id, pose, settings)


def relative(text: str, folder: Path) -> str:
    """Return a path relative to `folder` if it is in or beside it, otherwise unchanged."""
    near = folder.parent if folder.name == LEVELS else folder
    path = Path(text)
    return os.path.relpath(path, folder) if path.is_relative_to(near) else text


UNTITLED = 'Untitled'
_SCENE_ELEMENTS = ('bodies', 'joints', 'geoms', 'sites', 'lights', 'actuators', 'sensors')


class _Dumper(yaml.SafeDumper):
    """A dumper without aliases: shared values are repeated, as people read the file too."""

    def ignore_aliases(self, data: object) -> bool:
        return True


class Level:
    """
    The open level.

    :ivar path: its file, None until it is saved.
    :ivar scene: MJCF file of the parts that cannot be edited, None for an empty world.
    :ivar model_files: reads the files that the level is made of.
    :ivar others: further keys of the sidecar, kept as they are.
    """

    def __init__(
        self,
        path: Path | None = None,
        scene: Path | None = None,
        model_files: ModelFiles = OPERATOR,
    ) -> None:
        self.path = path
        self.scene = scene
        self.model_files = model_files
        self.others: dict[str, Any] = {}
        self._actors: dict[str, LevelActor] = {}
        # Ids in use, and the names of robots: for levels of thousands of actors.
        self._ids: dict[str, str] = {}
        self._robots: dict[str, None] = {}
        self._reserved: frozenset[str] | None = None

    @classmethod
    def open(cls, path: Path, model_files: ModelFiles = OPERATOR) -> Level:
        """
        Read a level: a sidecar, or an MJCF file with or without one beside it.

        :raises SidecarError: when the sidecar breaks the schema.
        :raises WorldError: when an MJCF file is no MJCF, or a file is named that must not be read.
        """
        sidecar = path if path.suffix in ('.yaml', '.yml') else path.with_suffix('.yaml')
        if not sidecar.is_file():
            return cls._of_model(path, model_files)
        top = read_yaml(sidecar, SidecarError)
        model_files.check_sidecar(top)
        spec = parse_sidecar(top)
        level = cls(sidecar, spec.scene, model_files)
        groups: tuple[Sequence[ActorSpec], ...] = (
            spec.articulations,
            spec.objects,
            spec.lights,
        )
        for (kind, key), items in zip(LISTS.items(), groups, strict=True):
            entries = (top.value or {}).get(key) or []
            for entry, item in zip(entries, items, strict=True):
                actor = read_actor(kind, entry, item, sidecar.parent)
                if actor.name in level._actors:
                    raise WorldError(f'{sidecar}: two actors are named {actor.name!r}')
                if level.by_id(actor.actor_id) is not None:
                    raise WorldError(f'{sidecar}: two actors have the id {actor.actor_id!r}')
                level.add(actor)
        keys = ('scene', *LISTS.values())
        level.others = {key: value for key, value in top.value.items() if key not in keys}
        return level

    def copy(self) -> Level:
        """Return an independent copy."""
        twin = Level(self.path, self.scene, self.model_files)
        twin.others = dict(self.others)
        twin._actors = dict(self._actors)
        twin._ids = dict(self._ids)
        twin._robots = dict(self._robots)
        twin._reserved = self._reserved
        return twin

    @classmethod
    def _of_model(cls, path: Path, model_files: ModelFiles) -> Level:
        """Return the level of an MJCF file alone: one robot, or a scene without any."""
        parts = split_file(path, model_files)
        if parts.robot is None:
            return cls(None, path, model_files)
        level = cls(model_files=model_files)
        name = parts.whole.modelname
        stem = valid_prefix(path.stem if name in ('', 'MuJoCo Model') else name)
        level.add(LevelActor('robot', stem, stem, Pose(), {'model': str(path)}))
        return level

    @property
    def name(self) -> str:
        """Return the level's name: the stem of its file."""
        return self.path.stem if self.path else UNTITLED

    @property
    def actors(self) -> tuple[LevelActor, ...]:
        """Return the actors, oldest first."""
        return tuple(self._actors.values())

    def add(self, actor: LevelActor) -> None:
        """Add an actor, or replace the one with its name."""
        old = self._actors.get(actor.name)
        if old is not None:
            self._ids.pop(old.actor_id, None)
        self._actors[actor.name] = actor
        self._ids[actor.actor_id] = actor.name
        if actor.kind == 'robot':
            self._robots[actor.name] = None

    def remove(self, actor: LevelActor) -> None:
        """Remove an actor."""
        del self._actors[actor.name]
        self._ids.pop(actor.actor_id, None)
        self._robots.pop(actor.name, None)

    def move(self, actor: LevelActor, pose: Pose) -> LevelActor:
        """Move an actor and return the moved one."""
        moved = replace(actor, pose=pose)
        self.add(moved)
        return moved

    def by_id(self, actor_id: str) -> LevelActor | None:
        """Return the actor with this id; None if there is none."""
        return self._actors.get(self._ids.get(actor_id, ''))

    def by_name(self, name: str) -> LevelActor | None:
        """Return the actor with this name; None if there is none."""
        return self._actors.get(name)

    def find(self, target: str, by_name: bool = False) -> LevelActor:
        """
        Return an actor by its id, else by its name.

        :param by_name: only by its name.
        :raises OpError: unknown_actor, listing the actors.
        """
        found = None if by_name else self.by_id(target)
        found = found or self._actors.get(target)
        if found is None:
            known = (actor.name if by_name else actor.actor_id for actor in self.actors)
            raise unknown('unknown_actor', 'actor', target, known)
        return found

    def free_name(self, kind: str, wanted: str) -> str:
        """Return a free name for a new actor, as close to `wanted` as possible."""
        stem = valid_prefix(wanted)
        for candidate in _candidates(stem):
            if not self._problem(kind, candidate):
                return candidate
        raise AssertionError('numbers do not end')

    def _problem(self, kind: str, name: str) -> bool:
        """Return whether a new actor of this name could be mistaken for another, or for a part."""
        taken = (self._actors, self._ids, self._scene_names())
        if any(word in names for names in taken for word in (name, f'{name}_free')):
            return True
        if kind == 'robot':
            if prefix_problem(name, self._robots):
                return True
            return any(other.startswith(f'{name}_') for names in taken for other in names)
        return any(name.startswith(f'{robot}_') for robot in self._robots)

    def _scene_names(self) -> frozenset[str]:
        if self._reserved is None:
            self._reserved = frozenset()
            if self.scene is not None:
                spec = self.model_files.model(self.scene)
                name_unnamed(spec)
                self._reserved = frozenset(
                    item.name for kind in _SCENE_ELEMENTS for item in getattr(spec, kind)
                )
        return self._reserved

    def document(self, folder: Path | None = None) -> dict[str, Any]:
        """
        Return the level as a sidecar's content.

        :param folder: where the file will lie; None leaves paths absolute.
        """
        scene = None if self.scene is None else str(self.scene)
        if scene is not None and folder is not None:
            scene = relative(scene, folder)
        lists = {
            key: [actor.entry(folder) for actor in self.actors if actor.kind == kind]
            for kind, key in LISTS.items()
        }
        # `scene` is always there: an empty world is one too.
        return {'scene': scene, **{key: value for key, value in lists.items() if value}} | (
            self.others
        )

    def spec(self) -> WorldSpec:
        """
        Return the level as the description of a world.

        :raises SidecarError: when an entry breaks the schema, or its file no longer exists.
        """
        return parse_sidecar(
            Place(self.document(), '', self.path or Path(f'{UNTITLED}.yaml'), SidecarError)
        )

    def text(self, folder: Path) -> str:
        """Return the level as YAML, for a file in `folder`."""
        head = (
            '# A level of the editor, see docs/client.md; runs with: urlab server --model FILE\n'
        )
        document = self.document(folder)
        return head + yaml.dump(
            document, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=99
        )

    def files(self) -> list[Path]:
        """Return the files that the level is made of."""
        names = [actor.settings.get(key) for actor in self.actors for key in ('model', 'file')]
        found = [Path(name) for name in names if name]
        return [*([self.scene] if self.scene else []), *found]


def _candidates(stem: str) -> Iterable[str]:
    yield stem
    # Without underscores, no prefix is the start of another one.
    plain = stem.replace('_', '')
    number = 1
    while True:
        number += 1
        yield f'{stem}{number}'
        yield f'{plain}{number}'
