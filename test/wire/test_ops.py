# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The op catalogue is consistent in itself and with the pages."""

from collections import Counter

from urlab_ros_bridge.wire.ops import OPS


def test_the_catalogue_has_the_ops_of_the_page():
    # Section "Editor ops" and the sections of the runtime ops, counted there.
    sizes = Counter(op.namespace for op in OPS.values() if not (op.extension or op.since))
    runtime = {'': 2, 'runtime': 13, 'recording': 4, 'replay': 5}
    editor = {'scene': 15, 'sim': 3, 'outliner': 7, 'debug': 7, 'viewport': 6}
    assert sizes == runtime | editor
