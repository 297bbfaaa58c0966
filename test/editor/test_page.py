# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The example of an editor in docs/client.md runs as it stands."""

from pathlib import Path
import re

from bundled_server import ports_of
from bundled_server import running_server

from urlab_ros_bridge.editor.extension import extend

PAGE = Path(__file__).parents[2] / 'docs' / 'client.md'
BLOCK = re.compile(r'```python\n(.*?)```', re.S)


def test_a_level_is_built_played_and_saved(tmp_path):
    (block,) = (block for block in BLOCK.findall(PAGE.read_text()) if 'begin_pie' in block)
    assert block.count('Client()') == 1
    found = {}
    with running_server(extend, world='', data_dir=tmp_path) as server:
        exec(block.replace('Client()', f'Client(**{ports_of(server)})'), found)
    assert found['play'].ready
    assert (tmp_path / 'Levels' / 'yard.yaml').is_file()
