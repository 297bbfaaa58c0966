# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The session directory: private, removed at the end, and cleaned up after servers that died."""

import os
from pathlib import Path
import sys
import time

from lifelines import start_process
import pytest

from urlab_ros_bridge.transport.shm.directory import remove_stale
from urlab_ros_bridge.transport.shm.directory import SessionDirectory
from urlab_ros_bridge.wire.errors import RegionUnavailable

HOLDER = """
import sys, time
from pathlib import Path
from urlab_ros_bridge.transport.shm.directory import SessionDirectory
made = SessionDirectory([Path(sys.argv[1])])
(made.path / 'state.shm').write_bytes(b'x')
print(made.path, flush=True)
time.sleep(60)
"""


def test_the_directory_is_private_and_removed_at_the_end(tmp_path):
    made = SessionDirectory([tmp_path])
    assert made.path.parent.parent == tmp_path / f'urlab-{os.getuid()}'
    assert made.path.parent.name == 'URLabShm'
    for path in (made.path, made.path.parent, made.path.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    (made.path / 'something').touch()
    made.close()
    assert not made.path.exists()


def test_directory_of_a_killed_server_is_removed_by_the_next_start(tmp_path):
    process = start_process([sys.executable, '-c', HOLDER, tmp_path], stdout=-1, text=True)
    left = Path(process.stdout.readline().strip())
    SessionDirectory([tmp_path]).close()
    assert left.exists(), 'it was in use'
    process.kill()
    process.wait()
    SessionDirectory([tmp_path]).close()
    assert not left.exists()


def test_only_session_directories_are_removed(tmp_path):
    outside = tmp_path / 'precious'
    outside.mkdir()
    (outside / 'file').touch()
    parent = tmp_path / 'parent'
    parent.mkdir()
    (parent / 'link').symlink_to(outside)
    (parent / 'plain file').touch()
    (parent / 'half made').mkdir()
    old = parent / 'half made long ago'
    old.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    remove_stale(parent)
    assert sorted(path.name for path in parent.iterdir()) == ['half made', 'link', 'plain file']
    assert (outside / 'file').exists()


def test_a_folder_of_another_user_is_not_used(tmp_path):
    """Whoever may write to the shared folder could put a link or an open folder there."""
    elsewhere, next_best = tmp_path / 'elsewhere', tmp_path / 'next'
    elsewhere.mkdir()
    next_best.mkdir()
    trap = tmp_path / 'trap'
    trap.mkdir()
    (trap / f'urlab-{os.getuid()}').symlink_to(elsewhere)
    made = SessionDirectory([trap, next_best])
    assert made.path.is_relative_to(next_best)
    made.close()
    with pytest.raises(RegionUnavailable):
        SessionDirectory([trap])
    open_to_all = tmp_path / f'urlab-{os.getuid()}'
    open_to_all.mkdir(mode=0o777)
    open_to_all.chmod(0o777)
    SessionDirectory([tmp_path]).close()
    assert open_to_all.stat().st_mode & 0o777 == 0o700
