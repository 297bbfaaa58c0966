# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Temporary folders that not even a killed process leaves behind for long."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import fcntl
import os
from pathlib import Path
import shutil
import tempfile


@contextlib.contextmanager
def work_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """
    Make a folder that is removed at the end of the block, if it still has its name.

    A lock on it lives as long as this process.  Folders without one are those of killed
    processes, and are removed first.

    :param prefix: of the names of such folders, and of nothing else in `parent`.
    :raises OSError: when the folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for path in parent.glob(f'{prefix}*'):
        _remove_abandoned(path)
    path, handle = _make_locked(parent, prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _remove_abandoned(path: Path) -> None:
    with contextlib.suppress(OSError):  # locked by its process, or removed by another one
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
        finally:
            os.close(handle)


def _make_locked(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists():
            return path, handle
        os.close(handle)  # another process took it for abandoned before it was locked
