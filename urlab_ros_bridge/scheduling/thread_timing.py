# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How soon a thread runs: short time slices, and sleeping to the microsecond.

Linux 6.12 and later lets a thread without privileges ask for the length of its time slices.  Short
ones bring no larger share of the processors, but bring it sooner: a thread that wakes up with a
request need not wait until a program that computes has used up its own slice of about 3 ms.  On an
older system nothing changes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

SLICE_SECONDS = 3e-4  # a few quick steps; the shortest that Linux grants is 0.1 ms
# Of sched_setattr; programs of 32 bits have other numbers on the same machine.
_SYSCALLS = {'x86_64': 314, 'aarch64': 274, 'riscv64': 274}
# The first version of struct sched_attr: size, policy, flags, nice, priority, runtime, deadline,
# period.  For an ordinary thread the runtime is the length of a slice, in ns.
_ATTRIBUTES = struct.Struct('=IIQiIQQQ')


def ask_for_short_slices(seconds: float = SLICE_SECONDS) -> bool:
    """
    Ask for time slices of this length for the calling thread and those that it starts.

    :param seconds: 0.1 ms to 100 ms; Linux cuts others to that.
    :return: whether the system took the request; before Linux 6.12 it takes and ignores it.  A
        thread that was given a scheduling policy (``chrt``) keeps it, and nothing is asked for.
    """
    number = _SYSCALLS.get(platform.machine()) if struct.calcsize('P') == 8 else None
    if number is None or not hasattr(os, 'sched_getscheduler'):
        return False
    try:
        if os.sched_getscheduler(0) != os.SCHED_OTHER:
            return False
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        attributes = _ATTRIBUTES.pack(
            _ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, round(seconds * 1e9), 0, 0
        )
        return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)
    except (OSError, AttributeError):
        return False


_PR_SET_TIMERSLACK = 29


def sleep_precisely() -> None:
    """Let short sleeps of the calling thread end on time."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1000), 0, 0, 0)
