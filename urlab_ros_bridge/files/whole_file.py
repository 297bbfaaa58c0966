# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Atomic writing of files."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import errno
import os
from pathlib import Path
from typing import BinaryIO
import uuid

PART = '.part'
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_BUFFER_BYTES = 1 << 20


def write_whole(path: Path, data: bytes, mode: int = 0o666, sync: bool = False) -> None:
    """
    Write a file, in place of an older one; readers see the old content or the new.

    :param mode: permissions, less those that the umask takes away.
    :param sync: whether it is on the disk when this returns.
    :raises OSError: with the name of the file; the older one is kept.
    """
    with open_whole(path, mode=mode, sync=sync) as file:
        file.write(data)


@contextlib.contextmanager
def open_whole(
    path: Path, *, prefix: str = '.', mode: int = 0o666, sync: bool, replace: bool = True
) -> Iterator[BinaryIO]:
    """
    Write a file in a block: it gets its name at the end, and goes when the block is left before.

    :param prefix: how its name begins until then; it ends with `PART`.
    :param mode: permissions, less those that the umask takes away.
    :param sync: whether it is on the disk, name and content, when the block is over.
    :param replace: whether it may take the place of a file that there is in the end.
    :raises OSError: with the name of the file; an older one is kept.
    """
    part = path.with_name(f'{prefix}{uuid.uuid4().hex}{PART}')
    try:
        with open(os.open(part, _FLAGS, mode), 'wb', _BUFFER_BYTES) as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if replace:
            os.replace(part, path)
        else:
            _put_in_place(part, path)
        if sync:
            _sync_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _put_in_place(part: Path, path: Path) -> None:
    """Rename a file, unless its new name is taken."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError as error:  # a file system without hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        os.replace(part, path)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
