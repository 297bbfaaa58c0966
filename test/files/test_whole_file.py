# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import errno
import os
import resource
import stat

import pytest

from urlab_ros_bridge.files.whole_file import open_whole
from urlab_ros_bridge.files.whole_file import write_whole


@pytest.mark.parametrize('sync', [False, True])
def test_a_file_is_replaced_as_a_whole(tmp_path, sync):
    path = tmp_path / ('ö' * 120)  # 240 of the 255 bytes that a name may have
    umask = os.umask(0o027)
    try:
        write_whole(path, b'first')
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        write_whole(path, b'second', 0o600, sync=sync)
    finally:
        os.umask(umask)
    assert path.read_bytes() == b'second' and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_exceeds_the_limit_keeps_the_older_file_and_is_named(tmp_path):
    path = tmp_path / 'results'
    write_whole(path, b'older')
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        with pytest.raises(OSError, match='File too large') as caught:
            write_whole(path, bytes(64))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b'older' and list(tmp_path.iterdir()) == [path]


def links(*_):
    raise OSError(errno.EPERM, 'no hard links')


@pytest.mark.parametrize('link', [os.link, links])
def test_a_file_created_during_the_write_is_not_replaced(tmp_path, monkeypatch, link):
    monkeypatch.setattr(os, 'link', link)
    path = tmp_path / 'a'
    with open_whole(path, sync=False, replace=False) as file:
        file.write(b'mine')
        assert not path.exists()
    assert path.read_bytes() == b'mine'
    path.unlink()

    def write_too_late():
        with open_whole(path, sync=False, replace=False) as file:
            path.write_bytes(b'theirs')
            file.write(b'mine')

    with pytest.raises(FileExistsError) as caught:
        write_too_late()
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b'theirs' and list(tmp_path.iterdir()) == [path]


def test_an_exception_while_writing_leaves_no_file(tmp_path):
    def write_half():
        with open_whole(tmp_path / 'a', sync=False) as file:
            file.write(b'half')
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert not list(tmp_path.iterdir())
