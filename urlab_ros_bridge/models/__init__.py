# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The bundled worlds: MJCF scenes and robots, each world with its YAML sidecar.

A world `NAME` is the file `NAME.yaml` of this folder; it names the MJCF files beside it.  Objects
to put into worlds are MJCF files of the folder `objects`.
"""

from __future__ import annotations

import pathlib

import yaml

from urlab_ros_bridge.wire.errors import UnknownName

__all__ = [
    'UnknownObject',
    'UnknownWorld',
    'object_names',
    'object_path',
    'robot_names',
    'world_names',
    'world_path',
]


class UnknownWorld(UnknownName):
    """A name is not one of the bundled worlds."""

    def __init__(self, name: object) -> None:
        super().__init__('world', name, world_names())


class UnknownObject(UnknownName):
    """A name is not one of the bundled objects."""

    def __init__(self, name: object) -> None:
        super().__init__('object', name, object_names())


def world_names() -> list[str]:
    """Return the names of the bundled worlds in alphabetical order."""
    return sorted(path.stem for path in _folder().glob('*.yaml'))


def world_path(name: str) -> pathlib.Path:
    """
    Return the absolute path of the YAML sidecar of a bundled world.

    Raises
    ------
    UnknownWorld
        When `name` is not in `world_names()`.

    """
    if name not in world_names():
        raise UnknownWorld(name)
    return _folder() / f'{name}.yaml'


def robot_names() -> list[str]:
    """Return the bundled worlds with one robot, in alphabetical order."""
    return [name for name in world_names() if _robots(name) == 1]


def _robots(world: str) -> int:
    with world_path(world).open(encoding='utf-8') as file:
        return len(yaml.safe_load(file).get('articulations', []))


def object_names() -> list[str]:
    """Return the names of the bundled objects in alphabetical order."""
    return sorted(path.stem for path in (_folder() / 'objects').glob('*.xml'))


def object_path(name: str) -> pathlib.Path:
    """
    Return the absolute path of the MJCF file of a bundled object.

    Raises
    ------
    UnknownObject
        When `name` is not in `object_names()`.

    """
    if name not in object_names():
        raise UnknownObject(name)
    return _folder() / 'objects' / f'{name}.xml'


def _folder() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent
