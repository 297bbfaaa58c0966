# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Values of a sidecar that the schema has no type for: files, names, colours."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import os
from pathlib import Path
from typing import TypeVar

from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.schema.sections import read_value

T = TypeVar('T')
MAX_PATH = 1024  # characters of a file's path
MAX_TEXT = 200
MAX_THINGS = 10_000


class SidecarError(SchemaError):
    """A sidecar cannot be used; the message names the file, the key path and the bad value."""


def text(place: Place, longest: int = MAX_TEXT) -> str:
    """Return a text of 1 to `longest` characters."""
    if not isinstance(place.value, str) or not 0 < len(place.value) <= longest:
        raise place.fail(
            f'must be a string of 1 to {longest} characters, not {shown(place.value)}'
        )
    return place.value


def file(place: Place) -> Path:
    """Return an existing file; a relative path starts at the folder of the YAML file."""
    folder = os.path.dirname(place.source)
    path = os.path.join(folder, text(place, MAX_PATH))
    if not os.path.isfile(path):  # nor a name that no file system takes
        there = sorted(file.name for file in Path(folder).glob('*.xml'))[:24]
        raise place.fail(
            f'there is no file {shown(place.value)}; '
            f'{hint(place.value, there) if there else "the folder has no .xml files"}'
        )
    return Path(os.path.realpath(path))


def names(place: Place) -> list[str]:
    """Return one or more texts."""
    found = [text(item) for item in place.items()]
    if not found:
        raise place.fail('must be a list of one or more names')
    return found


def choice(place: Place, valid: Iterable[str]) -> str:
    """Return one of the valid choices."""
    words = list(valid)
    if not isinstance(place.value, str) or place.value not in words:
        raise place.fail(f'{shown(place.value)} is unknown; {hint(place.value, words)}')
    return place.value


def color(*lengths: int) -> Callable[[Place], tuple[float, ...]]:
    """Return a reader of [red, green, blue], which gets opacity 1 where 4 numbers are taken."""

    def parse(place: Place) -> tuple[float, ...]:
        parts = tuple(read_value(Key(low=0.0, high=1.0), float, part) for part in place.items())
        if len(parts) not in lengths:
            raise place.fail('must be [red, green, blue], each from 0 to 1')
        return parts if len(parts) == max(lengths) else (*parts, 1.0)

    return parse


def resolution(place: Place) -> tuple[int, int]:
    """Return [width, height] in pixels."""
    sides = [read_value(Key(low=1, high=8192), int, side) for side in place.items()]
    if len(sides) != 2:
        raise place.fail(f'must be [width, height], not {sides}')
    return sides[0], sides[1]


def named(section: type[T]) -> Callable[[Place], tuple[T, ...]]:
    """Return a reader of a list of sections whose names differ."""

    def parse(place: Place) -> tuple[T, ...]:
        found: dict[str, T] = {}
        for item in place.items():
            if len(found) == MAX_THINGS:
                raise item.fail(f'there are more than {MAX_THINGS}')
            thing = read(section, item)
            name = str(getattr(thing, 'name', ''))
            if name in found:
                raise item.child('name').fail(f'{name!r} is already in use')
            found[name] = thing
        return tuple(found.values())

    return parse
