# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/client.md run as they stand."""

from pathlib import Path
import re

from bundled_server import ports_of
from bundled_server import running_server
import pytest

DOCS = Path(__file__).parents[3] / 'docs'
BLOCK = re.compile(r'```python\n(.*?)```', re.S)


@pytest.fixture(scope='module')
def examples(tmp_path_factory):
    """Yield the blocks of the page, the arguments of a client, and the data folder."""
    folder = tmp_path_factory.mktemp('data')
    blocks = BLOCK.findall((DOCS / 'client.md').read_text())
    with running_server(world='', editor=True, data_dir=folder) as server:
        yield blocks, ports_of(server), folder


def test_a_level_is_built_played_and_saved(examples):
    blocks, ports, folder = examples
    (block,) = (block for block in blocks if 'begin_pie' in block)
    assert block.count('Client()') == 1
    found = {}
    exec(block.replace('Client()', f'Client(**{ports})'), found)
    assert found['play'].ready
    assert (folder / 'Levels' / 'yard.yaml').is_file()
