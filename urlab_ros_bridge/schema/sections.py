# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sections: dataclasses read from plain values."""

from __future__ import annotations

from dataclasses import is_dataclass
from dataclasses import MISSING
from functools import cache
from typing import Any
from typing import get_args
from typing import get_origin
from typing import TypeVar

from urlab_ros_bridge.schema.keys import as_number
from urlab_ros_bridge.schema.keys import Key
from urlab_ros_bridge.schema.keys import keys_of
from urlab_ros_bridge.schema.keys import problem_of
from urlab_ros_bridge.schema.keys import type_name
from urlab_ros_bridge.schema.keys import without_none
from urlab_ros_bridge.schema.places import Place
from urlab_ros_bridge.schema.places import shown

T = TypeVar('T')


class KeyProblem(ValueError):
    """
    Raised by a section's `__post_init__`: keys that are right alone do not go together.

    :ivar name: the key at which the mistake is reported, '' for the section itself.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name


def read(section: type[T], place: Place) -> T:
    """
    Make a section from a mapping; what is not given has its default.

    null counts as absent.

    Raises
    ------
    SchemaError
        Of the class that the place names: an unknown key, with the nearest valid one; a missing
        key; a value of the wrong type or out of bounds; a list of the wrong length.
    """
    kind: type = section
    known = keys_of(kind)
    given = {
        name: item
        for name, item in place.mapping(*known).items()
        if item.value is not None or _form(known[name][1])[1]
    }
    for name, (_, _, item) in known.items():
        if name not in given and item.default is MISSING and item.default_factory is MISSING:
            raise place.fail(f'the key {name!r} is missing')
    values = {name: read_value(*known[name][:2], item) for name, item in given.items()}
    try:
        return section(**values)
    except KeyProblem as problem:
        at = given.get(problem.name, place)
        raise at.fail(str(problem)) from None


def read_value(key: Key, kind: Any, place: Place) -> Any:
    """Return one value of a section, checked and of the type that its field names."""
    kind, optional, origin, parts, section = _form(kind)
    if optional and place.value is None:
        return None
    if key.parse is not None:
        return key.parse(place)
    if origin in (list, tuple):
        return _read_list(key, origin, parts, place)
    if origin is dict:
        return {name: read_value(key, parts[1], item) for name, item in place.mapping().items()}
    if section:
        return read(kind, place)
    problem = problem_of(key, kind, place.value)
    if problem:
        raise place.fail(problem)
    return as_number(place.value) if kind is float else place.value


@cache
def _form(kind: Any) -> tuple[Any, bool, Any, tuple[Any, ...], bool]:
    """
    Return a type without `| None`, and whether it had that.

    Then what it is made of, and whether it is a section.
    """
    kind, optional = without_none(kind)
    return kind, optional, get_origin(kind), get_args(kind), is_dataclass(kind)


def _read_list(key: Key, origin: type, parts: tuple[Any, ...], place: Place) -> Any:
    fixed = origin is tuple and parts[-1] is not Ellipsis
    length = len(parts) if fixed else key.length
    items = list(place.items())
    if length is not None and len(items) != length:
        things = f'{length} {type_name(parts[0])}s'
        raise place.fail(f'must be a list of {things}, not {shown(place.value)}')
    kinds = parts if fixed else (parts[0],) * len(items)
    return origin(read_value(key, kind, item) for kind, item in zip(kinds, items, strict=True))
