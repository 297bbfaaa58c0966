# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of worlds that are gone."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """
    Give freed memory back to the system, where the C library can.

    The worlds of a server are made and freed by many threads; glibc would keep what each of them
    has freed, a hundred MB after some hundred worlds.
    """
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if trim is not None:
        trim(0)


__all__ = ['give_back']
