# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Typed reading of request fields.

Types are read as `schema.lenient` reads them in replies: null counts as absent, 3.0 is a whole
number.  A value of the wrong type, not finite or out of range answers `bad_value` with the field,
the value and what is allowed: a request is checked whole before it changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any
from typing import overload
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.schema.lenient import read_lenient_value
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.wire.encoding.limits import MAX_VECTOR
from urlab_ros_bridge.wire.names import known_name

# MuJoCo's mjMAXVAL: a larger number in its state counts as a diverged simulation.
MAX_MAGNITUDE = 1e10
MAX_TEXT = 4096  # characters of a string, unless the field says otherwise
MAX_NAME = 256  # characters of a name that is kept
_ANY = Key()
_SHORTEST = 1e-6
T = TypeVar('T')
E = TypeVar('E')


def bad_value(field: str, value: Any, expected: str) -> OpError:
    """Return the error of a field whose value cannot be used."""
    return OpError('bad_value', f'{field}: {shown(value)} is not {expected}')


class BadField(OpError):
    """A field that `schema.lenient` cannot read; see `Place.error`."""

    def __init__(self, source: Path | str, path: str, problem: str) -> None:
        super().__init__('bad_value', f'{path}: {problem}')


class Fields:
    """
    The fields of one request; `where` is put before field names in messages.

    :ivar e_stops: how often the e-stop had been engaged when the request arrived.
    """

    __slots__ = ('_request', '_where', 'e_stops')

    def __init__(self, request: dict[str, Any], where: str = '') -> None:
        self._request = request
        self._where = where
        self.e_stops = 0

    def __contains__(self, name: str) -> bool:
        return self._request.get(name) is not None

    def given(self, name: str) -> Any:
        """Return a field's raw value, None when it is absent."""
        return self._request.get(name)

    def need(self, name: str) -> Any:
        """
        Return a field's raw value.

        :raises OpError: missing_field when it is absent or null.
        """
        value = self._request.get(name)
        if value is None:
            raise OpError('missing_field', self._where + name)
        return value

    def string(self, name: str, default: str = '', longest: int = MAX_TEXT) -> str:
        """Return a string field of at most `longest` characters."""
        value = self._request.get(name)
        if value is None:
            return default
        text = value if type(value) is str else self._read(str, name)
        if len(text) > longest:
            raise bad_value(self._where + name, text, f'at most {longest} characters long')
        return text

    def boolean(self, name: str, default: bool = False) -> bool:
        """Return a boolean field; 0 and 1 count as booleans."""
        value = self._request.get(name)
        return default if value is None else self._read(bool, name)

    @overload
    def number(
        self, name: str, default: float, *, low: float = ..., high: float = ...
    ) -> float: ...

    @overload
    def number(
        self, name: str, default: None = None, *, low: float = ..., high: float = ...
    ) -> float | None: ...

    def number(
        self,
        name: str,
        default: float | None = None,
        *,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> float | None:
        """Return a finite number within [low, high]."""
        if self._request.get(name) is None:
            return default
        number = self._read(float, name, Key(low=low, high=high))
        if not math.isfinite(number):
            raise bad_value(self._where + name, number, 'a finite number')
        return number

    def integer(self, name: str, default: int) -> int:
        """Return a whole number; floats like 3.0 count (stock peers send every number so)."""
        value = self._request.get(name)
        if type(value) is int:
            return value
        return default if value is None else self._read(int, name)

    def choice(self, name: str, valid: Iterable[str], default: str = '') -> str:
        """Return a string, in lower case, that must be one of `valid`."""
        value = self.string(name, default).lower()
        names = list(valid)
        if value not in names:
            raise bad_value(
                self._where + name, self._request.get(name), 'one of ' + ', '.join(names)
            )
        return value

    def need_number(self, name: str, *, low: float = -math.inf, high: float = math.inf) -> float:
        """
        Return a finite number within [low, high].

        :raises OpError: missing_field when it is absent or null; bad_value.
        """
        self.need(name)
        return self.number(name, math.nan, low=low, high=high)

    @overload
    def vector(self, name: str, default: np.ndarray, size: int = ...) -> np.ndarray: ...

    @overload
    def vector(self, name: str, default: None = None, size: int = ...) -> np.ndarray | None: ...

    def vector(
        self, name: str, default: np.ndarray | None = None, size: int = 0
    ) -> np.ndarray | None:
        """Return a list of finite numbers as float64 of shape (n,), n = `size` if that is set."""
        value = self._request.get(name)
        return default if value is None else self.need_vector(name, size)

    def need_vector(self, name: str, size: int = 0) -> np.ndarray:
        """
        Return a list of finite numbers as float64 of shape (n,), n = `size` if that is set.

        :raises OpError: missing_field when it is absent or null; bad_value.
        """
        values = vector(self._where + name, self.need(name))
        if size and len(values) != size:
            raise bad_value(self._where + name, values.tolist(), f'a list of {size} numbers')
        return values

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a map field, {} when absent."""
        value = self._request.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise bad_value(self._where + name, value, 'a map')
        return value

    def _read(self, kind: type[T], name: str, key: Key = _ANY) -> T:
        """Return a field that is there as `kind`."""
        place = Place(self._request[name], self._where + name, error=BadField)
        found: T = read_lenient_value(kind, place, key)
        return found


def find_element(kind: str, name: str, prefix: str, elements: Mapping[str, E]) -> E:
    """
    Return the element of a robot that a request names, locally or as in the compiled model.

    :raises OpError: bad_value, listing the elements.
    """
    found = elements.get(known_name(name, prefix, elements))
    if found is None:
        raise unknown('bad_value', kind, name, elements)
    return found


def unit_quaternion(field: str, quat: np.ndarray) -> np.ndarray:
    """
    Return a quaternion at length 1.

    :raises OpError: bad_value, when its length is 0.
    """
    norm = np.linalg.norm(quat)
    if norm < _SHORTEST:
        raise bad_value(field, quat.tolist(), 'a rotation (its norm is 0)')
    return quat / norm


def vector(field: str, value: Any) -> np.ndarray:
    """
    Return a list of numbers within +-1e10 as float64 of shape (n,).

    :raises OpError: bad_value for anything else.
    """
    if not isinstance(value, list) or len(value) > MAX_VECTOR:
        raise bad_value(field, value, f'a list of at most {MAX_VECTOR} numbers')
    if not _only_numbers(value):
        raise bad_value(field, value, 'a flat list of numbers')
    # Mostly the Euclidean norm, of which no number is larger, is small enough.
    if not math.hypot(*value) <= MAX_MAGNITUDE and not all(
        -MAX_MAGNITUDE <= each <= MAX_MAGNITUDE for each in value
    ):
        raise bad_value(field, value, f'a list of finite numbers up to {MAX_MAGNITUDE:g}')
    return np.array(value, dtype=np.float64)


def _only_numbers(value: list) -> bool:
    """Numpy would also take '1.5', None and True for numbers."""
    return set(map(type, value)) <= {int, float}
