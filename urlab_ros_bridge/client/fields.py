# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Typed reading of decoded replies.

Stock servers pack every number as float64 and send null for "absent", so an integer may arrive as
``21.0`` and a field may be None.  A field of the wrong kind raises `ProtocolError` and names its
place in the reply.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import math
from typing import Any
from typing import Generic
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError

T = TypeVar('T')


class Lazy(Generic[T]):
    """
    An attribute that is computed from its owner at the first access and then kept.

    Unlike `functools.cached_property` of Python 3.11 it takes no lock: computing it twice is
    harmless.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, _: type | None = None) -> T:
        if owner is None:
            return self  # type: ignore[return-value]
        value = owner.__dict__[self._name] = self._compute(owner)
        return value


def wrong(where: str, value: object, expected: str) -> ProtocolError:
    """Return the error for a field of the wrong kind; long values are cut."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + '...'
    return ProtocolError(f'{where} is {text}, expected {expected}')


def mapping(fields: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return a map field, empty when absent."""
    value = fields.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong(f'{where}.{key}', value, 'a map')
    return value


def map_of_maps(fields: Mapping[str, Any], key: str, where: str) -> dict[str, dict[str, Any]]:
    """Return a field that maps names to maps, empty when absent."""
    outer = mapping(fields, key, where)
    for name, value in outer.items():
        if not isinstance(value, dict):
            raise wrong(f'{where}.{key}.{name}', value, 'a map')
    return outer


def maps(fields: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """Return a field that is a list of maps, empty when absent."""
    values = fields.get(key)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise wrong(f'{where}.{key}', values, 'a list of maps')
    return values


def text(fields: Mapping[str, Any], key: str, where: str, default: str = '') -> str:
    """Return a text field, `default` when absent."""
    value = fields.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise wrong(f'{where}.{key}', value, 'text')
    return value


def flag(fields: Mapping[str, Any], key: str, where: str, default: bool = False) -> bool:
    """Return a boolean field, `default` when absent."""
    value = fields.get(key)
    if value is None:
        return default
    if not isinstance(value, (bool, int, float)):
        raise wrong(f'{where}.{key}', value, 'true or false')
    return bool(value)


def number(fields: Mapping[str, Any], key: str, where: str, default: float | None = None) -> float:
    """Return a number field; absent is an error when `default` is None."""
    value = fields.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, (int, float)):
        return float(value)
    raise wrong(f'{where}.{key}', value, 'a number')


def integer(fields: Mapping[str, Any], key: str, where: str, default: int | None = None) -> int:
    """Return an integer field, which may arrive as a float; absent as in `number`."""
    value = fields.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return int(value)
    raise wrong(f'{where}.{key}', value, 'an integer')


def vector(fields: Mapping[str, Any], key: str, where: str) -> np.ndarray:
    """Return a float64 array of shape (n,) of a list of numbers; shape (0,) when absent."""
    value = fields.get(key)
    if value is None:
        return np.empty(0)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.ndim != 1 or not isinstance(value, list):
        raise wrong(f'{where}.{key}', value, 'a list of numbers')
    return array


def texts(fields: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    """Return a field that maps names to texts, empty when absent."""
    values = mapping(fields, key, where)
    return {name: text(values, name, f'{where}.{key}') for name in values}


def numbers(fields: Mapping[str, Any], key: str, where: str) -> dict[str, float]:
    """Return a field that maps names to numbers, empty when absent."""
    values = mapping(fields, key, where)
    return {name: number(values, name, f'{where}.{key}') for name in values}
