# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What peers send: stock number types and nulls are understood, nonsense is named."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema.lenient import read_lenient
from urlab_ros_bridge.schema.lenient import read_lenient_value


@dataclass(frozen=True)
class Lens:
    name: str = key(takes='name')
    size: tuple[int, int] = key((640, 480), low=1, high=99)
    fovy: float = 45.0


@dataclass(frozen=True)
class Reply:
    count: int
    label: str
    blob: bytes
    on: bool
    vector: np.ndarray
    lenses: dict[str, Lens]
    words: tuple[str, ...]
    names: frozenset[str]
    best: Lens | None
    anything: Any = None
    previous: str = key('', wire='previous_mode', choices=('', 'live', 'direct'))
    quat: np.ndarray = key(factory=lambda: np.empty(0), length=4)
    raw: dict[str, Any] = key(factory=dict, takes='whole', repr=False, compare=False)

    def __post_init__(self):
        if self.count < 0:
            raise KeyProblem('count', 'must not be negative')


def reply(**fields):
    return read_lenient(Reply, Place(fields, '', 'reply_ok'))


def test_absent_and_null_values_are_empty_and_numbers_are_required():
    found = reply(count=3.0, label=None)
    assert (found.count, found.label, found.blob, found.on) == (3, '', b'', False)
    assert isinstance(found.count, int) and found.vector.shape == found.quat.shape == (0,)
    assert (found.lenses, found.words, found.names, found.best) == ({}, (), frozenset(), None)
    assert found.raw == {'count': 3.0, 'label': None}
    assert 'raw' not in repr(found)
    with pytest.raises(SchemaError, match=r"reply_ok.*'count'"):
        reply(label='x')


def test_values_of_stock_servers_are_understood():
    found = reply(
        count=1,
        on=1.0,
        vector=[1, 2.5, None],
        lenses={'eye': {'size': [32.0, 24.0], 'fovy': 50, 'of_a_later_version': 1}},
        previous_mode='live',
        best={},
        names=['a', 'b'],
        label='x' * 1000,
    )
    assert found.lenses == {'eye': Lens('eye', (32, 24), 50.0)}
    assert found.on is True and found.vector[1] == 2.5 and math.isnan(found.vector[2])
    assert (found.previous, found.best, found.names) == ('live', None, {'a', 'b'})
    assert math.isnan(read_lenient(Lens, Place({'fovy': math.nan})).fovy)


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'count': 1.5}, 'reply_ok: count: must be a whole number, not 1.5'),
        ({'count': -1}, 'reply_ok: count: must not be negative'),
        ({'label': 3}, 'reply_ok: label: must be a string, not 3'),
        ({'blob': 'text'}, "reply_ok: blob: must be binary data, not 'text'"),
        ({'quat': [1, 2]}, 'reply_ok: quat: must be a list of 4 numbers'),
        ({'lenses': {'eye': {'size': [0, 1]}}}, 'reply_ok: lenses.eye.size[0]: must be a whole'),
        ({'words': ['a', 2]}, 'reply_ok: words[1]: must be a string, not 2'),
        ({'previous_mode': 'liv'}, "reply_ok: previous_mode: 'liv' is unknown; did you mean"),
    ],
)
def test_invalid_values_are_named_with_their_place(fields, message):
    with pytest.raises(SchemaError) as caught:
        reply(**{'count': 0, **fields})
    assert str(caught.value).startswith(message)


LEAVES = st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.binary()


VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(st.dictionaries(st.sampled_from([*Reply.__dataclass_fields__, 'previous_mode']), VALUES))
def test_any_mapping_gives_a_section_or_an_error(fields):
    with contextlib.suppress(SchemaError):
        assert isinstance(reply(**fields), Reply)


@given(VALUES, st.sampled_from([int, float, str, np.ndarray, dict[str, int], list[float], Lens]))
def test_any_value_is_read_or_refused(value, kind):
    with contextlib.suppress(SchemaError):
        found = read_lenient_value(kind, Place(value))
        assert isinstance(found, getattr(kind, '__origin__', kind))
