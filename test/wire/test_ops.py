# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The op catalogue is consistent in itself and with the pages."""

from collections import Counter

from urlab_ros_bridge.wire import ops
from urlab_ros_bridge.wire.ops import OPS


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


def test_every_spelling_of_a_mode_means_a_mode():
    assert set(ops.MODE_ALIASES.values()) == set(ops.MODES)
    assert ops.MODE_ALIASES['streaming'] == 'live'
