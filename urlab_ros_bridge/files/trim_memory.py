# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that is free, given back to the system."""

from __future__ import annotations

import ctypes


def trim_memory() -> None:
    """
    Give freed memory back to the system, where the C library can.

    Models are made and freed by many threads, and glibc keeps what threads have freed in an arena
    for each of them: a hundred MB after some hundred worlds.
    """
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if trim is not None:
        trim(0)


__all__ = ['trim_memory']
