# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import uuid

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def write_whole(path: Path, data: bytes, mode: int = 0o666, sync: bool = False) -> None:
    """
    Write a file, in place of an older one; readers see the old content or the new.

    :param mode: permissions, less those that the umask takes away.
    :param sync: whether it is on the disk when this returns.
    :raises OSError: with the name of the file; the older one is kept.
    """
    part = path.with_name(f'.{uuid.uuid4().hex}.part')
    try:
        with open(os.open(part, _FLAGS, mode), 'wb') as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


__all__ = ['write_whole']
