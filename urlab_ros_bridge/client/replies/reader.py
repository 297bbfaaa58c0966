# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading decoded replies: as a whole, one field, or each field on demand.

The contents of a reply are declared by a dataclass, or by the fields of a view.  Stock number
types and nulls are understood, see `schema.lenient`.  Anything else that a field should not hold
raises `MalformedReply`, which names the reply, the place in it and the value.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import cast
from typing import Generic
from typing import overload
from typing import Self
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.client.errors import MalformedReply
from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema.keys import without_none
from urlab_ros_bridge.schema.lenient import array_of
from urlab_ros_bridge.schema.lenient import read_lenient
from urlab_ros_bridge.schema.lenient import read_lenient_field
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import block_to_ns

T = TypeVar('T')
_MAPS = frozenset([dict])


def place_of(reply: Mapping[str, Any], source: str = '') -> Place:
    """Return a reply as the place at which its fields are read; `source` as in `read_reply`."""
    return Place(reply, '', source or str(reply.get('op', 'reply')), MalformedReply)


def read_reply(section: type[T], reply: Mapping[str, Any], source: str = '') -> T:
    """
    Return a reply as the dataclass that describes it.

    :param source: how errors call it; default: its op.
    :raises MalformedReply: for a field of the wrong kind.
    """
    return read_lenient(section, place_of(reply, source))


def read_field(reply: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """
    Return one field of a reply; an absent one is empty, an absent number is an error.

    :raises MalformedReply: for a value of another type.
    """
    found: T = read_lenient_field(kind, place_of(reply), name)
    return found


def read_time(place: Place) -> int:
    """Return a ``{sec, nsec}`` block in ns; for the `parse` of a key."""
    try:
        return block_to_ns(place.value)
    except BadTime as error:
        raise place.fail(str(error)) from error


def listed(names: Iterable[str], most: int = 8) -> str:
    """
    Return names for a repr, not too many of them.

    >>> listed('abc', 2), listed([])
    ('a, b, ... (3)', 'nothing')
    """
    found = list(names)
    shown = ', '.join(found[:most]) or 'nothing'
    return f'{shown}, ... ({len(found)})' if len(found) > most else shown


def _found(raw: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return a value with its name, of several spellings of one; the first if there is none."""
    for name in names:
        if name in raw:
            return name, raw[name]
    return names[0], None


class ReplyView:
    """
    A part of a reply whose fields are read when they are asked for.

    :ivar raw: the decoded map.
    :ivar name: its key in the map above it, whose place in the reply is `path`.
    :ivar source: how errors call the reply.
    """

    def __init__(
        self, raw: dict[str, Any], name: str = '', path: str = '', source: str = 'reply'
    ) -> None:
        self.raw = raw
        self.name = name
        self.path = path
        self.source = source

    def __repr__(self) -> str:
        """Return the name and the fields that are there."""
        return f'<{type(self).__name__} {self.name}: {listed(self.raw)}>'

    @property
    def place(self) -> Place:
        """Return the map as a place of the reply."""
        path = f'{self.path}.{self.name}'.strip('.')
        return Place(self.raw, path, self.source, MalformedReply)


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

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> T | Self:
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value


class LazyField(Lazy[T]):
    """A field of a `ReplyView`."""

    def __init__(
        self, kind: type[T], text: str, *wire: str,
        default: T | None = None, parse: Callable[[Place], T] | None = None,
    ) -> None:  # fmt: skip
        """
        Describe the field.

        :param text: the docstring.
        :param wire: its names on the wire, of which a reply has one; default: that of the
            attribute.
        :param default: value of an absent field, see `schema.lenient`.
        :param parse: reads what has no plain type.
        """
        super().__init__(self._read)
        self.__doc__ = text
        self._kind = kind
        self._wire = wire
        self._default = default
        self._key = Key(parse=parse)
        self._array = kind is np.ndarray
        plain, _ = without_none(kind)
        self._plain = plain if parse is None and plain in (int, float, str) else None

    @staticmethod
    def optional(
        kind: type[T], text: str, *wire: str, parse: Callable[[Place], T | None] | None = None
    ) -> LazyField[T | None]:
        """Return a field that is None when it is absent."""
        return LazyField[T | None](cast('Any', kind | None), text, *wire, parse=parse)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._wire = self._wire or (name,)

    def _read(self, view: ReplyView) -> T:
        name, value = _found(view.raw, self._wire)
        if self._array and type(value) is list:  # hot, so read directly
            array: Any = array_of(value)
            if array is not None:
                vector: T = array
                return vector
        if type(value) is self._plain:
            plain: T = value
            return plain
        if value is None and self._default is not None:
            return self._default
        found: T = read_lenient_field(self._kind, view.place, name, self._key)
        return found


class LazyViewMap(Lazy[dict[str, T]]):
    """A field of a `ReplyView` that maps names to views."""

    def __init__(self, kind: Callable[[dict[str, Any], str, str, str], T], text: str,
                 *wire: str) -> None:  # fmt: skip
        """Describe the field, see `LazyField`; the values are of the class `kind`."""
        super().__init__(self._read)
        self.__doc__ = text
        self._kind = kind
        self._wire = wire

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._wire = self._wire or (name,)

    def _read(self, view: ReplyView) -> dict[str, T]:
        name, value = _found(view.raw, self._wire)
        if type(value) is not dict or not _MAPS.issuperset(map(type, value.values())):
            value = read_lenient_field(dict[str, dict[str, Any]], view.place, name)
        kind, source, path = self._kind, view.source, name
        if view.name:
            path = f'{view.place.path}.{name}'
        return {key: kind(raw, key, path, source) for key, raw in value.items()}


__all__ = [
    'Lazy',
    'LazyField',
    'LazyViewMap',
    'ReplyView',
    'listed',
    'place_of',
    'read_field',
    'read_reply',
    'read_time',
]
