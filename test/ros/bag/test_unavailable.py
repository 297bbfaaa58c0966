# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Without the package that writes the files, bags are refused, and nothing is left on the disk."""

from dataclasses import replace
import sys
from types import SimpleNamespace

import pytest

from urlab_ros_bridge.ros.bag import BagRecorder
from urlab_ros_bridge.ros.bag import RecordableTopics
from urlab_ros_bridge.ros.bag.errors import BagsUnavailable
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.program.features import Settings


@pytest.mark.parametrize('module', [None, SimpleNamespace(Writer=object)], ids=['none', 'old'])
def test_the_answer_says_what_to_install(monkeypatch, tmp_path, module):
    monkeypatch.setitem(sys.modules, 'mcap.writer', module)
    settings = replace(Settings(), data_dir=str(tmp_path))
    bridge = Bridge(
        None,
        (),
        lambda: settings,
        lambda *text: None,
        timeline=Timeline(),
        on_plan=None,
        fail=None,
    )
    bridge.add(RecordableTopics(lambda: None))
    recorder = BagRecorder(bridge)
    with pytest.raises(BagsUnavailable, match=r"pip install 'mcap>=1\.6'") as refused:
        recorder.start('run')
    assert refused.value.code == 'bag_unavailable' and not list(tmp_path.iterdir())
    assert recorder.bag is None and recorder.report() is None
