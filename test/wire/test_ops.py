# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The op catalogue is consistent in itself and with the pages."""

from collections import Counter

import pytest

from urlab_ros_bridge.wire import ops
from urlab_ros_bridge.wire.ops import OPS

CATEGORIES = {ops.MANAGER_REQUIRED, ops.EDITOR_ONLY, ops.NO_MANAGER}
TYPES = {'string', 'int', 'float', 'bool', 'array', 'object'}


def test_names_are_unique_in_the_source_rows():
    rows = (
        *ops._STEP,
        *ops._RUNTIME,
        *ops._RECORDING,
        *ops._REPLAY,
        *ops._SCENE,
        *ops._SIM,
        *ops._OUTLINER,
        *ops._DEBUG,
        *ops._VIEWPORT,
        *ops._JULY,
        *ops._EXTENSIONS,
    )
    assert [name for name, n in Counter(op.name for op in rows).items() if n > 1] == []
    assert len(rows) == len(OPS)


def test_the_catalogue_has_the_ops_of_the_page():
    # Section "Editor ops" and the sections of the runtime ops, counted there.
    sizes = Counter(op.namespace for op in OPS.values() if not (op.extension or op.since))
    assert sizes == {
        '': 2,
        'runtime': 13,
        'recording': 4,
        'replay': 5,
        'scene': 15,
        'sim': 3,
        'outliner': 7,
        'debug': 7,
        'viewport': 6,
    }


@pytest.mark.parametrize('op', OPS.values(), ids=OPS)
def test_meta_entries_are_shaped_as_on_the_page(op):
    entry = op.meta()
    assert entry['name'] == op.name and OPS[op.name] is op
    assert entry['category'] in CATEGORIES
    assert set(entry) <= {'name', 'category', 'namespace', 'required_fields', 'reply_fields'}
    assert all(entry[key] for key in set(entry) - {'namespace'})
    assert entry.get('required_fields', []) == list(op.required)
    for field in entry.get('reply_fields', []):
        name, _, kind = field.partition(':')
        assert name.isidentifier() and kind.removesuffix('?') in TYPES
    if op.reply:
        assert entry['reply_fields'][0] == 'op:string'


@pytest.mark.parametrize('op', OPS.values(), ids=OPS)
def test_no_field_is_both_required_and_optional(op):
    fields = [*op.required, *op.optional]
    assert len(set(fields)) == len(fields)
    assert 'op' not in fields and 'session_id' not in fields


def test_only_editor_namespaces_are_editor_only():
    editor = {'scene', 'sim', 'outliner', 'debug', 'viewport'}
    assert {op.namespace for op in OPS.values() if op.category == ops.EDITOR_ONLY} == editor


def test_every_spelling_of_a_mode_means_a_mode():
    assert set(ops.MODE_ALIASES.values()) == set(ops.MODES)
    assert ops.MODE_ALIASES['streaming'] == 'live'
