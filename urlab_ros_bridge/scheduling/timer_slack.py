# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sleeping to the microsecond: Linux lets an ordinary thread sleep 50 us too long."""

from __future__ import annotations

import ctypes
import sys

_PR_SET_TIMERSLACK = 29


def sleep_precisely() -> None:
    """Let short sleeps of the calling thread end on time."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1000), 0, 0, 0)


__all__ = ['sleep_precisely']
