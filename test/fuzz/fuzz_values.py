# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Values as YAML gives them, changed as values: what decoders do behind the parser of YAML.

Nearly every change of bytes ends in that parser, which takes milliseconds for each input.  Here
keys are renamed, dropped and moved, and values exchanged, so that every input gets as far as the
schema; the parser itself is a target of its own.  An input is JSON, so that it can be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import datetime
from itertools import islice
import json
import marshal
import random
from typing import Any

# What YAML can say and JSON cannot: {_ODD: name}.
_ODD = '!!'
_MARK = _ODD.encode()
_FURTHER: dict[str, Any] = {
    'date': datetime.date(2001, 1, 1),
    'time': datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC),
    'bytes': b'\x00\xff',
    'set': {1, 'a'},
    'int keys': {1: 2, None: 3, 1.5: 4, False: 5},
    'tuple': ((1, 2), (3, 4)),
    'huge': 10**400,
    'digits': 10**5000,
}
_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1.5, -0.0, 1e-320, 1e308, float('inf'), float('nan'),
    1 << 31, 1 << 63, -(1 << 64), '', ' ', 'a', '\0', '/', '..', '../../etc/passwd', 'x' * 300,
    '\ud800', 'ä', '1', 'null', [], {}, [[]], [None], {'': None}, [0] * 40,
    *({_ODD: name} for name in _FURTHER),
)  # fmt: skip
# As bytes, for what is put in is changed again.
_COPIES = tuple(map(marshal.dumps, _SCALARS))
_MAX_TEXT = 1 << 16
_MAX_DEPTH = 60


class NoValue(Exception):
    """An input stands for no value."""


def read_values(data: bytes) -> Any:
    """
    Return the value that an input stands for.

    :raises NoValue: when it stands for none.
    """
    try:
        # Most have nothing that JSON cannot say, and are read faster without looking for it.
        return json.loads(data, object_hook=_further if _MARK in data else None)
    except (ValueError, RecursionError) as error:
        raise NoValue(str(error)) from None


def _further(found: dict[str, Any]) -> Any:
    if len(found) == 1 and _ODD in found and isinstance(found[_ODD], str):
        return _FURTHER.get(found[_ODD], found)
    return found


class ValueMutator:
    """A seeded source of inputs: the same seed gives the same inputs."""

    def __init__(self, corpus: Sequence[bytes], words: Sequence[bytes], seed: int) -> None:
        """Begin; `words` are further keys and texts."""
        values = [json.loads(data) for data in corpus]
        # `marshal` copies them several times as fast as anything else does.
        self._copies = [marshal.dumps(value) for value in values]
        places = [
            (within, key)
            for value in values
            for within in _containers(value)
            for key in (within if isinstance(within, dict) else range(len(within)))
        ]
        self._keys = sorted({key for _, key in places if isinstance(key, str)})
        self._keys += [word.decode() for word in words]
        # Parts of the corpus, as they may stand at another place.
        self._parts = [marshal.dumps(within[key]) for within, key in places]
        self._random = random.Random(seed)

    def inputs(self, count: int) -> Iterator[bytes]:
        """Yield so many inputs."""
        for _ in range(count):
            yield self.one()

    def one(self) -> bytes:
        """Return an input: a value of the corpus, changed a little."""
        chance = self._random
        whole = [marshal.loads(chance.choice(self._copies))]
        if chance.random() < 0.9:
            self._thin(whole[0])
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 9))):
            self._change(*self._place(whole))
        text = json.dumps(whole[0])
        return text[:_MAX_TEXT].encode() if len(text) > _MAX_TEXT else text.encode()

    def _thin(self, value: Any) -> None:
        """Leave two at most of things that are alike, so that an input takes less time."""
        chance = self._random
        found = [value] if _is_container(value) else []
        for within in found:  # which grows meanwhile
            if isinstance(within, list):
                while len(within) > 2 and _is_container(within[0]):
                    del within[chance.randrange(len(within))]
                found += [item for item in within if item.__class__ in _CONTAINERS]
                continue
            inner = [item for item in within.values() if item.__class__ in _CONTAINERS]
            if within is not value and 2 < len(within) == len(inner):
                for key in chance.sample(list(within), len(within) - 2):
                    del within[key]
                inner = list(within.values())
            found += inner

    def _place(self, whole: list[Any]) -> tuple[Any, Any]:
        """Return any place in a value: the list or mapping that it is in, and its index or key."""
        containers = _containers(whole)
        at = self._random.randrange(sum(map(len, containers)))
        for within in containers:
            if at < len(within):
                key = next(islice(within, at, None)) if isinstance(within, dict) else at
                return within, key
            at -= len(within)
        raise AssertionError('fewer places than were counted')

    def _change(self, within: Any, key: Any) -> None:
        chance = self._random
        kind = chance.randrange(9)
        value = within[key]
        if kind == 0 and key != 0:
            del within[key]
        elif kind == 1 and isinstance(within, dict):
            within[chance.choice(self._keys)] = within.pop(key)
        elif kind == 2:
            within[key] = marshal.loads(chance.choice(self._parts))
        elif kind == 3 and isinstance(value, dict):
            value[chance.choice(self._keys)] = marshal.loads(chance.choice(self._parts))
        elif kind == 3 and isinstance(value, list):
            value.insert(
                chance.randrange(len(value) + 1), marshal.loads(chance.choice(self._parts))
            )
        elif kind == 4 and isinstance(value, (int, float)) and not isinstance(value, bool):
            within[key] = chance.choice((-value, value + 1, value * 1e6, value / 3, int(value)
                                         if abs(value) < 1e9 else 0, str(value)))  # fmt: skip
        elif kind == 4 and isinstance(value, str):
            at = chance.randrange(len(value) + 1)
            within[key] = value[:at] + chance.choice(('', '/', '\n', '{', *self._keys))
        elif kind == 5 and isinstance(value, list) and value:
            value += value[: chance.choice((1, 2, 40))]
        elif kind == 6:
            within[key] = [value] if chance.random() < 0.5 else {chance.choice(self._keys): value}
        elif kind == 7 and isinstance(value, (list, dict)):
            for _ in range(chance.choice((1, 5, _MAX_DEPTH))):
                value = [value]
            within[key] = value
        else:
            within[key] = marshal.loads(chance.choice(_COPIES))


_CONTAINERS = (dict, list)


def _is_container(value: Any) -> bool:
    return value.__class__ in _CONTAINERS


def _containers(value: Any) -> list[Any]:
    """Return every list and mapping in a value."""
    found = [value] if _is_container(value) else []
    for within in found:  # which grows meanwhile
        inner = within.values() if isinstance(within, dict) else within
        found += [item for item in inner if item.__class__ in _CONTAINERS]
    return found
