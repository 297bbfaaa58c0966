# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files that clients name stay in the data folder and are written whole or not at all."""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from lifelines import start_process
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


def test_a_bare_name_lies_in_the_replays_folder(folder):
    path = folder.for_writing('ep 1ü.json')
    assert path == folder.root / 'Replays' / 'ep 1ü.json' and path.parent.is_dir()
    assert folder.for_writing('runs/a/ep.json').parent.is_dir()
    path.write_text('x')
    assert folder.for_reading('ep 1ü.json') == folder.for_reading(str(path)) == path


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
def test_no_path_ever_leads_out(tmp_path_factory, parts):
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


def test_a_name_that_is_too_long_for_the_system_is_refused(folder):
    folder.for_writing('x')  # the folder is there
    for resolve, code in (
        (folder.for_writing, 'path_not_writable'),
        (folder.for_reading, 'path_not_readable'),
    ):
        with pytest.raises(OpError) as caught:
            resolve('a' * 300)
        assert caught.value.code == code


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / 'a.json'
    write_atomically(path, ['old'])

    def pieces():
        yield 'new' * 1_000_000
        raise OpError('shutting_down')

    assert refusal(write_atomically, path, pieces()) == 'shutting_down'
    assert path.read_text() == 'old' and os.listdir(tmp_path) == ['a.json']
    write_atomically(path, ['n', 'ew'])
    assert path.read_text() == 'new' and os.listdir(tmp_path) == ['a.json']


def test_what_the_system_refuses_is_path_not_writable():
    with pytest.raises(OpError, match=r'/proc/a\.json: ') as caught:
        write_atomically(Path('/proc/a.json'), ['x'])
    assert caught.value.code == 'path_not_writable'


KILLED = """
import sys, time
from pathlib import Path
from urlab_ros_bridge.sim.requests.paths import write_atomically

def pieces():
    while True:
        yield 'new' * 100_000
        print('written', flush=True)
        time.sleep(0.01)

write_atomically(Path(sys.argv[1]), pieces())
"""


def test_a_server_that_is_killed_while_saving_leaves_the_old_file(tmp_path):
    path = tmp_path / 'a.json'
    write_atomically(path, ['old'])
    process = start_process(
        [sys.executable, '-c', KILLED, str(path)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
    )
    for _ in range(10):
        assert process.stdout.readline() == b'written\n'
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    assert path.read_text() == 'old'
    (part,) = set(os.listdir(tmp_path)) - {'a.json'}
    write_atomically(path, ['new'])
    assert path.read_text() == 'new' and (tmp_path / part).exists()
    # Another save may still be writing a young one; an old one is left over.
    long_ago = time.time() - 2 * 86_400
    os.utime(tmp_path / part, (long_ago, long_ago))
    write_atomically(path, ['newer'])
    assert path.read_text() == 'newer' and os.listdir(tmp_path) == ['a.json']


@pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16'])
def test_text_is_read_in_the_encodings_that_the_stock_plugin_writes(tmp_path, encoding):
    path, text = tmp_path / 'a', '{"ü": 1}\n' * 20_000
    path.write_bytes(text.encode(encoding))
    pieces = list(read_text(path))
    assert ''.join(pieces) == text and max(map(len, pieces)) <= 1 << 14


def test_what_is_no_text_is_path_not_readable(tmp_path):
    path = tmp_path / 'a'
    path.write_bytes(b'{"a\xff\xff')
    assert refusal(list, read_text(path)) == 'path_not_readable'
    assert refusal(list, read_text(tmp_path / 'none')) == 'path_not_readable'


def test_a_folder_that_is_full_takes_nothing_more(tmp_path):
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
