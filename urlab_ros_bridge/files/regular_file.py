# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of files whose names come from others: regular files of a bounded size only."""

from __future__ import annotations

import os
from pathlib import Path
import stat

from urlab_ros_bridge.wire.errors import UrlabError


class FileRefused(UrlabError, OSError):
    """A file cannot be read, is not a regular file, or is too large; the message says which."""


def read_regular(path: Path, limit: int, *, follow_links: bool = True) -> bytes:
    """
    Return the content of a regular file.

    :param limit: bytes.
    :param follow_links: False: the last part of the path may not be a symbolic link.
    :raises FileRefused: with the reason, without the path.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | (0 if follow_links else os.O_NOFOLLOW)
    try:
        # A FIFO opened so does not wait for a writer; it is refused right after.
        handle = os.open(path, flags | os.O_NONBLOCK)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileRefused(getattr(error, 'strerror', None) or str(error)) from error
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise FileRefused('not a regular file')
    with open(handle, 'rb') as file:
        content = b'' if state.st_size > limit else file.read(limit + 1)
    size = max(state.st_size, len(content))
    if size > limit:
        raise FileRefused(f'has {size} bytes, at most {limit} are allowed')
    return content
