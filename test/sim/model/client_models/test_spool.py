# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of copies: shared by servers, emptied by the last one, nobody else's."""

import os
import stat

import pytest

from urlab_ros_bridge.sim.model.client_models import spool as module
from urlab_ros_bridge.sim.model.client_models.spool import Spool


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Let the folder be made here."""
    monkeypatch.setattr(module.tempfile, 'gettempdir', lambda: str(tmp_path))
    monkeypatch.setattr(module.tempfile, 'tempdir', str(tmp_path))
    return tmp_path


def test_servers_share_files_and_the_last_one_removes_them():
    first, second = Spool(), Spool()
    path = first.keep('a.obj', b'a')
    assert second.keep('a.obj', b'not written again') == path and path.read_bytes() == b'a'
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    del first
    assert path.exists()
    del second
    assert not path.exists()
    # What a killed server has left goes when the next one begins.
    path.write_bytes(b'stale')
    assert Spool().keep('b.obj', b'b').parent == path.parent and not path.exists()


@pytest.mark.parametrize('kind', ['open to all', 'link'])
def test_a_folder_of_somebody_else_is_not_used(temporary, kind):
    folder = temporary / f'urlab-models-{os.getuid()}'
    if kind == 'link':
        (temporary / 'theirs').mkdir()
        folder.symlink_to(temporary / 'theirs')
    else:
        folder.mkdir()
        folder.chmod(0o777)
    spool = Spool()
    path = spool.keep('a.obj', b'a')
    assert path.parent not in (folder, temporary / 'theirs')
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
