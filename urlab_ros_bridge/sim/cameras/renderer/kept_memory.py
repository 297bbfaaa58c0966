# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Memory that is freed stays with the renderer process.

Drawing and converting allocate a few megabytes for every picture and free them again.  glibc gives
such amounts back to the system at once, which then has to clear the same pages for the next
picture: an eighth of a renderer's processor time in the kernel (docs/performance.md).
"""

from __future__ import annotations

import os

# glibc's names, in bytes; other C libraries ignore them.  32 MiB is the most that it takes for the
# first: what is larger has a mapping of its own in any case.
_VARIABLES = {
    'MALLOC_MMAP_THRESHOLD_': 32 << 20,
    'MALLOC_TRIM_THRESHOLD_': 128 << 20,
    'MALLOC_TOP_PAD_': 4 << 20,
}


def allocator_variables() -> dict[str, str]:
    """Return the environment variables of a process that keeps its memory; the user's win."""
    return {name: os.environ.get(name, str(value)) for name, value in _VARIABLES.items()}


__all__ = ['allocator_variables']
