# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Blueprints: templates of actors.

Shapes, the robots of the bundled worlds, and files that a client has imported.  A blueprint has a
short name and, as in the stock plugin, a class path: ``/Game/MuJoCoImports/arm.arm_C``.  Imports
are remembered in the data folder; the files stay where they are and are read again at each use.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
import os
from pathlib import Path
from typing import Any

import yaml

from urlab_ros_bridge import models
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.client_models.files import read_user_file
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.scenery import read_mesh
from urlab_ros_bridge.sim.model.sidecar.readers import MAX_PATH
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.readers import text
from urlab_ros_bridge.sim.model.sidecar.sidecar import parse_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import MESH_ENDINGS
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.requests.paths import write_atomically
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.names import numbered
from urlab_ros_bridge.wire.names import valid_prefix

SHAPES_FOLDER = '/URLab/Shapes'
ROBOTS_FOLDER = '/URLab/Robots'
IMPORTS_FOLDER = '/Game/MuJoCoImports'  # the stock plugin's
REGISTER = 'Imports.yaml'
_SHAPES = ('box', 'sphere', 'cylinder', 'plane')
# Shapes of the Unreal engine, which stock scripts may request.
_ALIASES = {
    f'/Engine/BasicShapes/{name}': shape
    for name, shape in (
        ('Cube', 'box'),
        ('Sphere', 'sphere'),
        ('Cylinder', 'cylinder'),
        ('Plane', 'plane'),
    )
}
# Keys that differ for each entry of a sidecar.
OWN_KEYS = ('prefix', 'name', 'actor_id', 'pose')


@dataclass(frozen=True, slots=True)
class ActorBlueprint:
    """
    One blueprint.

    :ivar kind: 'robot' or 'object'.
    :ivar settings: keys of the sidecar's entry but for `OWN_KEYS`; files are absolute.
    """

    name: str
    folder: str
    kind: str
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def package(self) -> str:
        """Return the path without the class."""
        return f'{self.folder}/{self.name}'

    @property
    def class_path(self) -> str:
        """Return the class path, as replies name the blueprint."""
        return f'{self.package}.{self.name}_C'

    @property
    def class_name(self) -> str:
        """Return the class of its actors."""
        return f'{self.name}_C' if self.kind == 'robot' else 'StaticMeshActor'

    @property
    def file(self) -> Path | None:
        """Return the file behind it: MJCF or mesh."""
        text = self.settings.get('model' if self.kind == 'robot' else 'file')
        return Path(text) if text else None


class BlueprintLibrary:
    """All blueprints; imports are in `data`, and `files` reads them."""

    def __init__(self, data: DataFolder, files: ModelFiles = OPERATOR) -> None:
        self._data, self._files = data, files
        self._fixed = [
            *(ActorBlueprint(name, SHAPES_FOLDER, 'object', {'shape': name}) for name in _SHAPES),
            *_bundled(),
        ]
        self._imports: dict[str, Path] = self._remembered()
        self._held: dict[str, tuple[object, ActorBlueprint]] = {}

    def all(self) -> list[ActorBlueprint]:
        """Return every blueprint whose file can be used, by short name."""
        return sorted([*self._fixed, *self._imported()], key=lambda item: item.name)

    def _made(self, name: str) -> ActorBlueprint:
        """Read an import again from its files."""
        file = self._imports[name]
        stamp = tuple(
            path.stat().st_mtime_ns if path.is_file() else 0
            for path in (file, file.with_suffix('.yaml'))
        )
        held = self._held.get(name)
        if held is None or held[0] != (file, stamp):
            held = self._held[name] = ((file, stamp), _from_file(name, file, self._files))
        return held[1]

    def _imported(self) -> Iterator[ActorBlueprint]:
        for name in self._imports:
            # A missing or broken file is skipped; spawning it reports why.
            with suppress(WorldError, SidecarError):
                yield self._made(name)

    def find(self, text: str) -> ActorBlueprint:
        """
        Return a blueprint by class path, package path or short name.

        :raises WorldError: when there is none, or its file cannot be used.
        """
        wanted = _ALIASES.get(text.partition('.')[0], text.partition('.')[0])
        for item in self._fixed:
            if wanted in (item.package, item.name):
                return item
        name = wanted.removeprefix(f'{IMPORTS_FOLDER}/')
        if name in self._imports:
            return self._made(name)
        names = [*(item.name for item in self._fixed), *self._imports]
        raise WorldError(f'there is no blueprint {text!r:.80}; {list_names("blueprint", names)}')

    def of(self, kind: str, settings: Mapping[str, Any]) -> ActorBlueprint:
        """Return the blueprint of an entry of a level; an unknown one is created."""
        for item in self._fixed:
            if item.kind == kind and _same_source(item.settings, settings):
                return item
        for item in self._imported():
            if item.kind == kind and _same_source(item.settings, settings):
                return item
        text = settings.get('model' if kind == 'robot' else 'file')
        return ActorBlueprint(_short_name(Path(text or 'thing')), IMPORTS_FOLDER, kind, settings)

    def add(self, text: str, again: bool) -> tuple[ActorBlueprint, bool]:
        """
        Import a file: MJCF, a sidecar with one robot, or a mesh.

        :param again: check a file that is imported already as if it were new.
        :return: the blueprint, and whether it was imported now.
        :raises OpError: import_failed, with the system's or MuJoCo's own message.
        """
        file = read_user_file(self._data, text, '.', 'import_failed')
        known = next((name for name, path in self._imports.items() if path == file), None)
        try:
            if known and not again:
                return _from_file(known, file, self._files), False
            name = known or self._free_name(_short_name(file))
            made = _from_file(name, file, self._files)
            self._files.work(lambda: self._check(made))
        except (WorldError, SidecarError) as error:
            raise OpError('import_failed', str(error)) from error
        self._imports[name] = file
        self._remember()
        return made, True

    def adopt(self, kind: str, settings: Mapping[str, Any]) -> None:
        """Register the file of a level's entry as a blueprint of the same name."""
        text = settings.get('model' if kind == 'robot' else 'file')
        if text and self.of(kind, settings) not in self.all():
            self._imports[self._free_name(_short_name(Path(text)))] = Path(text)

    def remove(self, text: str) -> bool:
        """Forget an import and keep its file; return whether it existed."""
        name = text.partition('.')[0].removeprefix(f'{IMPORTS_FOLDER}/')
        if name not in self._imports:
            return False
        del self._imports[name]
        self._remember()
        return True

    def _check(self, made: ActorBlueprint) -> None:
        """Read and compile the file of a blueprint: a broken one is refused immediately."""
        file = made.file
        if file is None:
            return
        if made.kind == 'robot':
            compile_spec(self._files.model(file), f'model file {str(file)!r}')
        else:
            read_mesh(self._files.mesh(file))

    def _free_name(self, stem: str) -> str:
        taken = {item.name for item in self._fixed} | set(self._imports)
        return next(name for name in numbered(stem, '') if name not in taken)

    def _remembered(self) -> dict[str, Path]:
        path = self._data.root / REGISTER
        if not path.is_file():
            return {}
        try:
            fields = read_yaml(path, SidecarError).mapping()
            return {name: Path(text(item, MAX_PATH)) for name, item in fields.items()}
        except SidecarError:
            return {}  # files can be imported again

    def _remember(self) -> None:
        path = self._data.for_writing(REGISTER, '.')
        content = yaml.safe_dump({name: str(file) for name, file in self._imports.items()})
        write_atomically(path, [content])


def _short_name(file: Path) -> str:
    return valid_prefix(file.stem)


def _same_source(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(key) == other.get(key) for key in ('model', 'shape', 'file'))


def _from_file(name: str, file: Path, files: ModelFiles) -> ActorBlueprint:
    if file.suffix.lower() in MESH_ENDINGS:
        settings: dict[str, Any] = {'shape': 'mesh', 'file': str(file)}
        return ActorBlueprint(name, IMPORTS_FOLDER, 'object', settings)
    if file.suffix in ('.yaml', '.yml'):
        robots = robot_settings(file, files)
        if len(robots) != 1:
            raise WorldError(f'{file} has {len(robots)} robots; a blueprint has one')
        return ActorBlueprint(name, IMPORTS_FOLDER, 'robot', robots[0][1])
    beside = file.with_suffix('.yaml')
    if beside.is_file():
        for _, settings in robot_settings(beside, files):
            if settings['model'] == str(file):
                return ActorBlueprint(name, IMPORTS_FOLDER, 'robot', settings)
    return ActorBlueprint(name, IMPORTS_FOLDER, 'robot', {'model': str(file)})


def robot_settings(
    sidecar: Path, files: ModelFiles = OPERATOR
) -> list[tuple[str, dict[str, Any]]]:
    """
    Return prefix and settings of the robots of a sidecar; its files are made absolute.

    :raises SidecarError: when the sidecar breaks the schema.
    :raises WorldError: when it names a file that must not be read.
    """
    top = read_yaml(sidecar, SidecarError)
    files.check_sidecar(top)
    parse_sidecar(top)
    entries = top.value.get('articulations') or []
    found = []
    for entry in entries:
        settings = {key: value for key, value in entry.items() if key not in OWN_KEYS}
        settings['model'] = os.path.realpath(sidecar.parent / settings['model'])
        found.append((entry['prefix'], settings))
    return found


def _bundled() -> list[ActorBlueprint]:
    found: dict[str, ActorBlueprint] = {}
    for world in models.world_names():
        for prefix, settings in robot_settings(models.world_path(world)):
            if any(settings == item.settings for item in found.values()):
                continue
            name = f'{world}_{prefix}' if prefix in found else prefix
            found[name] = ActorBlueprint(name, ROBOTS_FOLDER, 'robot', settings)
    return list(found.values())
