# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Values that a peer sent, read leniently.

What users write is read strictly (`sections.read`), so that no mistake of theirs gets lost.  What
a peer sends may be of another version than this program, and stock servers pack every number as
float64 and send null for "absent".  So here

- keys that the section does not have are passed over;
- null counts as absent, and an absent text, truth value, list or mapping without a default is
  empty; an absent number (or tuple of numbers) without a default is an error;
- a float without fraction is an integer, and 0 and 1 are truth values;
- numbers need not be finite, unless their key has bounds; texts may have any length.

Of `Key.extra` these count: ``wire``, the name of the key when it is not that of the field, and
``takes``: ``name`` for the section's key in a mapping, ``whole`` for the
plain mapping from which the section is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import is_dataclass
from dataclasses import MISSING
from dataclasses import replace
from functools import cache
import math
from typing import Any
from typing import get_args
from typing import get_origin
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.schema.keys import Key
from urlab_ros_bridge.schema.keys import keys_of
from urlab_ros_bridge.schema.keys import problem_of
from urlab_ros_bridge.schema.keys import without_none
from urlab_ros_bridge.schema.places import Place
from urlab_ros_bridge.schema.places import shown
from urlab_ros_bridge.schema.sections import KeyProblem

T = TypeVar('T')

_EMPTY: dict[Any, Any] = {str: '', bool: False, bytes: b''}


@dataclass(frozen=True, slots=True)
class _Item:
    """
    How one field is read.

    :ivar plain: a value of exactly this type is taken as it is; None when the key has rules.
    """

    field: str
    wire: str
    key: Key
    kind: Any
    plain: type | None
    takes: str
    has_default: bool


def read_lenient(section: type[T], place: Place, name: str = '') -> T:
    """
    Make a section from the mapping that a peer sent.

    :param name: its key in the mapping above it.
    :raises SchemaError: of the class that the place names: a missing number, a value of another
        type, or one out of bounds.
    """
    given = place.value
    if not isinstance(given, dict):
        raise place.fail(f'must be a mapping, not {shown(given)}')
    values: dict[str, Any] = {}
    kind: type = section
    for item in _items_of(kind):
        value = given.get(item.wire)
        if item.takes:
            value = name if item.takes == 'name' else given
        if item.plain is not None and type(value) is item.plain:
            values[item.field] = value
        elif value is not None:
            at = _below(place, item.wire, value)
            values[item.field] = read_lenient_value(item.kind, at, item.key)
        elif not item.has_default:
            values[item.field] = _empty(item.kind, place, item.wire, item.key)
    try:
        return section(**values)
    except KeyProblem as problem:
        at = place._replace(path=place.below(problem.name)) if problem.name else place
        raise at.fail(str(problem)) from None


def read_lenient_field(kind: Any, place: Place, name: str, key: Key | None = None) -> Any:
    """Return one field of the mapping at `place`, as `read_lenient` reads it without a default."""
    key = key or _NO_RULES
    if not isinstance(place.value, dict):
        raise place.fail(f'must be a mapping, not {shown(place.value)}')
    value = place.value.get(name)
    if value is None:
        return _empty(kind, place, name, key)
    return read_lenient_value(kind, _below(place, name, value), key)


def read_lenient_value(kind: Any, place: Place, key: Key | None = None) -> Any:
    """Return one value as the type `kind`; the rules of `key` hold for it or its elements."""
    key = key or _NO_RULES
    if key.parse is not None:
        return key.parse(place)
    kind, optional = without_none(kind)
    value = place.value
    if kind is Any:
        return value
    if kind is np.ndarray:
        return _vector(key, place)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is dict:
        return _mapping(key, parts[1], place)
    if origin in (list, tuple, frozenset):
        return _sequence(key, origin, parts, place)
    if is_dataclass(kind):
        if optional and value == {}:
            return None
        return read_lenient(kind, place)  # type: ignore[arg-type]
    return _scalar(key, kind, place)


_NO_RULES = Key()


@cache
def _items_of(section: type) -> tuple[_Item, ...]:
    found = []
    for name, (key, kind, field) in keys_of(section).items():
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        bare = replace(key, text='', unit='', extra={}) == replace(_NO_RULES, extra={})
        found.append(
            _Item(
                name,
                key.extra.get('wire', name),
                key,
                kind,
                kind if bare and kind in (str, bool, int, float, bytes) else None,
                key.extra.get('takes', ''),
                has_default,
            )
        )
    return tuple(found)


def _below(place: Place, name: object, value: Any) -> Place:
    """Return the place of a key; `dataclasses.replace` would take longer than most readers."""
    return Place(value, place.below(str(name)), place.source, place.error)


def _empty(kind: Any, place: Place, name: str, key: Key) -> Any:
    """Return what an absent value without a default is."""
    kind, optional = without_none(kind)
    if optional or kind is Any:
        return None
    if kind is np.ndarray:
        return np.empty(0)
    required = kind in (int, float) or is_dataclass(kind) or _is_fixed(kind)
    empty = None if required else _EMPTY[kind] if kind in _EMPTY else (get_origin(kind) or kind)()
    if required or (key.check is not None and key.check(empty)):
        raise place.fail(f'the key {name!r} is missing')
    return empty


def _is_fixed(kind: Any) -> bool:
    """Return whether a type is a tuple of a certain length."""
    return get_origin(kind) is tuple and get_args(kind)[-1] is not Ellipsis


def _mapping(key: Key, kind: Any, place: Place) -> dict[str, Any]:
    if not isinstance(place.value, dict):
        raise place.fail(f'must be a mapping, not {shown(place.value)}')
    found: dict[str, Any] = _arrays(place.value) if kind is np.ndarray else {}
    if found and key.length is None:
        return found
    for name, value in place.value.items():
        if value is None:
            found[name] = _empty(kind, place, name, key)
        elif is_dataclass(kind):
            found[name] = read_lenient(kind, _below(place, name, value), name)  # type: ignore
        else:
            found[name] = read_lenient_value(kind, _below(place, name, value), key)
    return found


def _arrays(values: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return arrays of a mapping of nothing but lists of numbers; it is read in every step."""
    arrays = ((name, array_of(value)) for name, value in values.items())
    found = {name: array for name, array in arrays if array is not None}
    return found if len(found) == len(values) else {}


def array_of(value: Any) -> np.ndarray | None:
    """Return the float64 of a list of numbers, None for anything else."""
    try:
        array = np.array(value, np.float64) if isinstance(value, list) else None
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array is not None and array.ndim == 1 else None


def _sequence(key: Key, origin: Any, parts: tuple[Any, ...], place: Place) -> Any:
    items = list(place.items())
    fixed = origin is tuple and parts[-1] is not Ellipsis
    length = len(parts) if fixed else key.length
    if length is not None and len(items) != length:
        raise place.fail(f'must be a list of {length}, not {shown(place.value)}')
    kinds = parts if fixed else (parts[0],) * len(items)
    return origin(
        [read_lenient_value(kind, item, key) for kind, item in zip(kinds, items, strict=True)]
    )


def _vector(key: Key, place: Place) -> np.ndarray:
    """Return float64 of shape (n,); a `length` of the key may be 0 instead."""
    array = array_of(place.value)
    if array is None:
        raise place.fail(f'must be a list of numbers, not {shown(place.value)}')
    if key.length is not None and array.size not in (0, key.length):
        raise place.fail(f'must be a list of {key.length} numbers, not {shown(place.value)}')
    return array


def _scalar(key: Key, kind: Any, place: Place) -> Any:
    value = place.value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is bool and number and value in (0, 1):
        return bool(value)
    if kind is bytes:
        if isinstance(value, bytes):
            return value
        raise place.fail(f'must be binary data, not {shown(value)}')
    if isinstance(value, float) and not math.isfinite(value) and kind is float and _unbounded(key):
        return value
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        key = replace(key, longest=len(value))
    problem = problem_of(key, kind, value)
    if problem:
        raise place.fail(problem)
    return float(value) if kind is float else value


def _unbounded(key: Key) -> bool:
    return key.low == key.above == -math.inf and key.high == math.inf
