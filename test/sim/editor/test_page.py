# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/editor.md run as they stand."""

from pathlib import Path
import re

from bundled_server import ports_of
from bundled_server import running_server
import pytest

from urlab_ros_bridge.client import Client

DOCS = Path(__file__).parents[3] / 'docs'
BLOCK = re.compile(r'```python\n(.*?)```', re.S)


@pytest.fixture(scope='module')
def examples(tmp_path_factory):
    """Yield the blocks of the page, the arguments of a client, and the data folder."""
    folder = tmp_path_factory.mktemp('data')
    blocks = BLOCK.findall((DOCS / 'editor.md').read_text())
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


def test_a_robot_of_the_users_own_is_imported_and_looked_at(examples):
    blocks, ports, folder = examples
    page = (DOCS / 'howto' / 'own_robot.md').read_text()
    (folder / 'tug.xml').write_text(re.search(r'`tug.xml`:\n\n```\w+\n(.*?)```', page, re.S)[1])
    (imports,) = (block for block in blocks if 'import_xml' in block)
    (looks,) = (block for block in blocks if 'frame_actor' in block)
    with Client(**ports) as client:
        editor = client.editor
        editor.load_level('yard')
        exec(imports, {'editor': editor})
        assert editor.begin_pie().ready
        assert set(client.handshake.articulations) == {'rover_0', 'rover_1', 'tug'}
        client.set_mode('live')
        found = {'client': client}
        while found.get('frame') is None:  # a starved renderer may take more than 10 s
            exec(looks, found)
        assert found['frame'].width == 640
        editor.stop_pie()
