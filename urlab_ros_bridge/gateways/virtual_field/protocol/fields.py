# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of a payload, read strictly: the right kind, finite, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any
from typing import TypeVar

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown

T = TypeVar('T')

MAX_NAME = 128
# Larger positions and velocities are invalid, and would overflow in single precision.
LARGEST = 1e6
_SHORTEST_QUATERNION = 1e-6

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
ORIGIN: Vector = (0.0, 0.0, 0.0)
IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)


class PayloadFields:
    """
    An object of a payload.

    Every reader takes the name of a field and what an absent one means; without that the field
    has to be there.

    :ivar values: the object; `path` is its place, for messages.
    """

    def __init__(self, values: dict[str, Any], path: str = '') -> None:
        self.values = values
        self.path = path

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def where(self, name: str) -> str:
        """Return a field's name for messages."""
        return f'{self.path}.{name}' if self.path else name

    def need(self, name: str) -> Any:
        """
        Return a field as it is.

        :raises BadMessage: when it is absent.
        """
        if name not in self.values:
            raise BadMessage(f'{self.where(name)} is missing')
        return self.values[name]

    def object(self, name: str) -> PayloadFields:
        """Return a nested object."""
        value = self.need(name)
        if not isinstance(value, dict):
            raise BadMessage(f'{self.where(name)} must be an object, got {shown(value)}')
        return PayloadFields(value, self.where(name))

    def text(self, name: str, default: str | None = None, longest: int = MAX_NAME) -> str:
        """Return a string without surrounding blanks; null counts as absent."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        value = self.need(name)
        if not isinstance(value, str):
            raise BadMessage(f'{self.where(name)} must be a string, got {shown(value)}')
        if len(value) > longest:
            raise BadMessage(
                f'{self.where(name)} has {len(value)} characters, more than {longest}'
            )
        return value.strip()

    def name(self, name: str) -> str:
        """Return a non-empty string; a number is converted to its digits."""
        value = self.need(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self.text(name)
        if not text:
            raise BadMessage(f'{self.where(name)} must not be empty')
        return text

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise BadMessage(f'{self.where(name)} must be true or false, got {shown(value)}')
        return value

    def number(
        self, name: str, default: float | None = None, low: float = -LARGEST, high: float = LARGEST
    ) -> float:
        """Return a number within bounds."""
        if default is not None and name not in self.values:
            return default
        return number(self.need(name), self.where(name), low, high)

    def vector(self, name: str, size: int, default: Sequence[float] | None = None) -> Any:
        """Return a tuple of `size` numbers."""
        if default is not None and name not in self.values:
            return tuple(default)
        return vector(self.need(name), self.where(name), size)

    def quaternion(self, name: str, default: Quaternion | None = None) -> Quaternion:
        """Return a rotation, x y z w, scaled to length one."""
        x, y, z, w = self.vector(name, 4, default)
        length = math.hypot(x, y, z, w)
        if length < _SHORTEST_QUATERNION:
            raise BadMessage(f'{self.where(name)} has no direction: {shown([x, y, z, w])}')
        return x / length, y / length, z / length, w / length


def number(value: Any, where: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """
    Return a number of a payload.

    :raises BadMessage: for anything else, and outside the bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadMessage(f'{where} must be a number, got {shown(value)}')
    if not low <= value <= high:
        raise BadMessage(f'{where} is {shown(value)}, not within {low:g} and {high:g}')
    return float(value)


def vector(value: Any, where: str, size: int) -> tuple[float, ...]:
    """
    Return a list of numbers of a payload.

    :raises BadMessage: for anything else, and for another size.
    """
    if not isinstance(value, list):
        raise BadMessage(f'{where} must be a list of {size} numbers, got {shown(value)}')
    if len(value) != size:
        raise BadMessage(f'{where} must have size {size}, got {len(value)}')
    return tuple(number(item, f'{where}[{index}]') for index, item in enumerate(value))


__all__ = [
    'IDENTITY', 'LARGEST', 'MAX_NAME', 'ORIGIN', 'PayloadFields', 'Quaternion', 'Vector', 'number',
    'vector',
]  # fmt: skip
