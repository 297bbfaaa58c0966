# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Memory that is freed stays with the processes that make images or pass them on.

Each image takes a few megabytes and frees them again.  glibc gives such amounts back to the
system at once, which then has to clear the same pages for the next image: an eighth of a
renderer's processor time in the kernel, and thousands of page faults a second in a bridge with two
cameras, half the processor time of a subscriber to images (docs/performance.md).  Our own
processes set this themselves; env.sh sets it for all others.
"""

from __future__ import annotations

import ctypes
from functools import cache
import os
import platform
from typing import NamedTuple


class _Setting(NamedTuple):
    """
    A parameter of glibc's allocator.

    :ivar number: as `mallopt` names it.
    :ivar size: in bytes.
    """

    number: int
    size: int


# By the names of the environment variables, which other C libraries ignore.  32 MiB is the most
# that glibc takes for the first: what is larger has a mapping of its own in any case.
_SETTINGS = {
    'MALLOC_MMAP_THRESHOLD_': _Setting(-3, 32 << 20),
    'MALLOC_TRIM_THRESHOLD_': _Setting(-1, 128 << 20),
    'MALLOC_TOP_PAD_': _Setting(-2, 4 << 20),
}
_ARENA_MAX = -8


def allocator_variables() -> dict[str, str]:
    """Return the environment variables of a process that keeps its memory; the user's win."""
    return {name: os.environ.get(name, str(each.size)) for name, each in _SETTINGS.items()}


@cache
def keep_freed_memory() -> None:
    """Have this process keep its memory from now on; variables that the user has set win."""
    if platform.libc_ver()[0] != 'glibc':
        return
    libc = ctypes.CDLL(None)
    for name, each in _SETTINGS.items():
        if name not in os.environ:
            libc.mallopt(each.number, each.size)


@cache
def limit_arenas() -> None:
    """
    Have the threads of this process share two arenas from now on; the user's variable wins.

    glibc makes up to eight for each processor.  Worlds come and go in threads of clients, so that
    free memory of the size of a few worlds would collect in each of them.
    """
    if 'MALLOC_ARENA_MAX' not in os.environ and platform.libc_ver()[0] == 'glibc':
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)


def trim_memory() -> None:
    """
    Return freed memory to the system, where the C library can.

    Models are made and freed by many threads, and glibc keeps what threads have freed in an arena
    for each of them: a hundred MB after some hundred worlds.
    """
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if trim is not None:
        trim(0)


__all__ = ['allocator_variables', 'keep_freed_memory', 'limit_arenas', 'trim_memory']
