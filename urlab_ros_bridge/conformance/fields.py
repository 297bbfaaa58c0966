# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Typed reading of reply fields, with the path in the failure.

Stock servers send every number as float64, so a float without fraction counts as an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import Any

from urlab_ros_bridge.conformance.verdict import Failed


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, booleans not counted."""
    return type(value) in (int, float) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Return whether a value is a whole number; 21.0 is one."""
    return is_number(value) and float(value).is_integer()


def is_vector(value: Any, size: int | None = None) -> bool:
    """Return whether a value is a list of finite numbers, of `size` if given."""
    return (
        isinstance(value, list)
        and all(map(is_number, value))
        and (size is None or len(value) == size)
    )


KINDS: dict[str, Callable[[Any], bool]] = {
    'number': is_number,
    'integer': is_integer,
    'string': lambda value: isinstance(value, str),
    'text': lambda value: isinstance(value, str) and value != '',
    'bool': lambda value: isinstance(value, bool),
    'array': lambda value: isinstance(value, list),
    'object': lambda value: isinstance(value, dict),
    'bytes': lambda value: isinstance(value, bytes) and len(value) > 0,
}


def short(value: Any, limit: int = 120) -> str:
    """Return a repr that fits a line."""
    text = repr(value)
    return text if len(text) <= limit else f'{text[: limit - 3]}...'


def field(reply: Any, path: str, kind: str = '', size: int | None = None) -> Any:
    """
    Return the value at a path, ``per_articulation/g1/qpos``, of a type.

    :param kind: a key of `KINDS`, or 'vector' (of `size`); empty for any value.
    :raises Failed: when it is not there or not of the type.
    """
    value = reply
    for part in path.split('/'):
        if not isinstance(value, dict) or part not in value:
            there = ', '.join(map(str, value)) if isinstance(value, dict) else short(value)
            raise Failed(f'the field {path}', f'no {part}; there are: {there}')
        value = value[part]
    if kind == 'vector':
        if not is_vector(value, size):
            raise Failed(f'{path} as a list of {size or ""} numbers', short(value))
    elif kind and not KINDS[kind](value):
        raise Failed(f'{path} as {kind}', short(value))
    return value


def keys(what: str, value: Any, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """
    Demand exactly the keys of a map.

    :raises Failed: naming what is missing or too much.
    """
    required, optional = set(required), set(optional)
    if not isinstance(value, dict):
        raise Failed(f'{what} as a map', short(value))
    missing, extra = required - set(value), set(value) - required - optional
    if missing or extra:
        said = [f'no {", ".join(sorted(missing))}'] if missing else []
        said += [f'also {", ".join(sorted(extra))}'] if extra else []
        raise Failed(f'{what} with exactly {", ".join(sorted(required))}', '; '.join(said))


def _as_list(value: Any) -> list[Any]:
    return [value] if is_number(value) else list(value)


def close(
    what: str,
    got: float | Sequence[float],
    expected: float | Sequence[float],
    tolerance: float = 1e-6,
) -> None:
    """
    Demand that numbers agree within an absolute tolerance.

    :raises Failed: naming the worst component.
    """
    left, right = _as_list(got), _as_list(expected)
    if len(left) != len(right):
        raise Failed(f'{what} of {len(right)} numbers', f'{len(left)} numbers: {short(left)}')
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        if not is_number(a) or abs(a - b) > tolerance:
            place = f'[{index}]' if len(left) > 1 else ''
            raise Failed(f'{what}{place} = {b!r} within {tolerance:g}', a)
