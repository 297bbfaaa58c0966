# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files that clients name stay in the data folder and are written whole or not at all."""

import contextlib
import os
from pathlib import Path
import time

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.requests.paths import read_text
from urlab_ros_bridge.sim.requests.paths import write_atomically


@pytest.fixture
def folder(tmp_path):
    return DataFolder(tmp_path / 'data')


def refusal(call, *arguments):
    with pytest.raises(OpError) as caught:
        call(*arguments)
    return caught.value.code


def test_symbolic_links_do_not_lead_out(folder, tmp_path):
    outside = tmp_path / 'outside'
    outside.mkdir()
    (outside / 'secret.json').write_text('{}')
    inside = folder.for_writing('x').parent
    (inside / 'link').symlink_to(outside)
    (inside / 'file.json').symlink_to(outside / 'secret.json')
    (inside / 'loop').symlink_to(inside / 'loop')
    for name in ('link/secret.json', 'link/new.json', 'file.json', f'{inside}/link/secret.json'):
        assert refusal(folder.for_reading, name) == 'path_not_readable'
        assert refusal(folder.for_writing, name) == 'path_not_writable'
    assert refusal(folder.for_reading, 'loop') == 'path_not_readable'
    (inside / 'good.json').write_text('x')
    (inside / 'alias.json').symlink_to(inside / 'good.json')
    assert folder.for_reading('alias.json') == inside / 'good.json'
    # A linked Replays folder leads out as well.
    other = DataFolder(tmp_path / 'other')
    other.root.mkdir()
    (other.root / 'Replays').symlink_to(outside)
    assert refusal(other.for_reading, 'secret.json') == 'path_not_readable'
    assert refusal(other.for_writing, 'new.json') == 'path_not_writable'


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(['..', '.', '/', '//', 'a', 'link', '~', 'Replays']), max_size=8))
def test_no_path_leaves_the_data_folder(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / 'confined'
    (root / 'Replays').mkdir(parents=True, exist_ok=True)
    if not (root / 'Replays' / 'link').is_symlink():
        (root / 'Replays' / 'link').symlink_to('/')
    folder = DataFolder(root)
    for text in ('/'.join(parts), ''.join(parts), f'{root}/' + '/'.join(parts)):
        with contextlib.suppress(OpError):
            path = folder.for_writing(text)
            assert Path(os.path.realpath(path)).is_relative_to(folder.root)


def test_only_regular_files_are_opened(folder):
    place = folder.for_writing('x').parent
    os.mkfifo(place / 'pipe')
    (place / 'folder').mkdir()
    for name in ('pipe', 'folder'):
        assert refusal(folder.for_reading, name) == 'path_not_readable'
        assert refusal(folder.for_writing, name) == 'path_not_writable'
    assert refusal(folder.for_reading, 'nothing.json') == 'path_not_readable'
    (place / 'file').write_text('')
    assert refusal(folder.for_writing, 'file/x.json') == 'path_not_writable'
    free = DataFolder(folder.root, allow_absolute=True)
    assert refusal(free.for_reading, '/dev/zero') == 'path_not_readable'


@pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16'])
def test_text_is_read_in_the_encodings_that_the_stock_plugin_writes(tmp_path, encoding):
    path, text = tmp_path / 'a', '{"ü": 1}\n' * 20_000
    path.write_bytes(text.encode(encoding))
    pieces = list(read_text(path))
    assert ''.join(pieces) == text and max(map(len, pieces)) <= 1 << 14


def test_undecodable_text_is_path_not_readable(tmp_path):
    path = tmp_path / 'a'
    path.write_bytes(b'{"a\xff\xff')
    assert refusal(list, read_text(path)) == 'path_not_readable'
    assert refusal(list, read_text(tmp_path / 'none')) == 'path_not_readable'


def test_a_full_folder_refuses_further_files(tmp_path):
    folder = DataFolder(tmp_path, limit_gb=1e-6)
    path = folder.for_writing('a.json')
    assert folder.room() == 1000
    assert refusal(write_atomically, path, ['x' * 600, 'x' * 600], True, folder.room()) == (
        'path_not_writable'
    )
    assert os.listdir(path.parent) == []
    write_atomically(path, ['x' * 999], room=folder.room())
    write_atomically(folder.for_writing('b.json'), ['x'], room=folder.room())
    with pytest.raises(OpError, match=r'2 files of 1e-06 GB.*--data-limit') as caught:
        folder.for_writing('c.json')
    assert caught.value.code == 'path_not_writable'
    assert folder.for_reading('a.json') == path
    assert DataFolder(tmp_path, limit_gb=0).room() > 1 << 60


def test_a_save_removes_only_old_parts_of_saves_that_were_killed(tmp_path):
    old, young = tmp_path / '.a.json.1.part', tmp_path / '.a.json.2.part'
    for part in (old, young):
        part.touch()
    long_ago = time.time() - 2 * 86_400
    os.utime(old, (long_ago, long_ago))
    write_atomically(tmp_path / 'a.json', ['new'])
    assert {path.name for path in tmp_path.iterdir()} == {young.name, 'a.json'}
