# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Copies of the files that models of clients consist of, in a folder of the server's own.

A world is recompiled at every change, from all files that it is made of.  Those in the data
folder may be gone by then, or be something else: clients write there.  As files and not in
memory, because MuJoCo keeps the meshes of files that have not changed.  All servers of a user
share the folder, so that the same world compiles to the same bytes; the last one empties it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
import stat
import tempfile
import threading
import uuid
import weakref

_LOCK = '.lock'


class Spool:
    """The folder: it is made when it is needed first, and let go with the object."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._lock = threading.Lock()

    def keep(self, name: str, content: bytes) -> Path:
        """
        Return the path of a file with this content.

        :param name: identifies the content: a file of this name is not written again.
        :raises OSError: when there is no room.
        """
        with self._lock:
            if self._folder is None:
                self._folder, handle = _open_folder()
                weakref.finalize(self, _release, self._folder, handle)
        path = self._folder / name
        if not path.exists():
            part = path.with_name(f'{name}.{uuid.uuid4().hex}.part')
            part.write_bytes(content)
            part.rename(path)
        return path


def _open_folder() -> tuple[Path, int]:
    """Return the folder, and the handle of its lock, which is shared with other servers."""
    folder = Path(tempfile.gettempdir(), f'urlab-models-{os.getuid()}')
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()
    ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
    if not ours or state.st_mode & 0o077:
        # Another process was first: it could change files in it.
        folder = Path(tempfile.mkdtemp(prefix='urlab-models-'))
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _empty(folder, handle)  # what servers that were killed have left
    fcntl.flock(handle, fcntl.LOCK_SH)
    return folder, handle


def _empty(folder: Path, handle: int) -> None:
    """Remove the files, unless another server uses them."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    for path in folder.iterdir():
        if path.name != _LOCK:
            with contextlib.suppress(OSError):
                path.unlink()


def _release(folder: Path, handle: int) -> None:
    with contextlib.suppress(OSError):
        _empty(folder, handle)
        # A fork of this process would keep the lock otherwise.
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


__all__ = ['Spool']
