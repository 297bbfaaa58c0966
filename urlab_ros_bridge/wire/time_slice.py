# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Short time slices for threads that answer others.

A thread that wakes up while another one computes waits until that one has used up its time slice,
2 to 4 ms on most machines: longer than a whole request takes.  Linux (6.12 and later) lets a
thread ask for shorter slices.  Its share of the processor stays the same, but it gets it in
smaller portions and sooner: it may interrupt those who have asked for longer ones.  Nobody needs a
privilege for this.  Where the kernel knows nothing of it, nothing changes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

SHORT = 1e-4  # s, the shortest that Linux grants
# struct sched_attr of linux/sched/types.h in its first version: size, policy, flags, nice,
# priority, runtime (ns), deadline, period.
_ATTRIBUTES = struct.Struct('=IIQiIQQQ')
_FIRST_KERNEL = (6, 12)
# Numbers of the system calls sched_setattr and sched_getattr.
_CALLS = {'x86_64': (314, 315), 'aarch64': (274, 275), 'riscv64': (274, 275)}


def ask_for_short_slices(seconds: float = SHORT) -> bool:
    """
    Ask for short time slices, for this thread and those that it will start.

    Policy, niceness and the rest stay as they are; a thread with real-time priority has no need.

    :return: whether the kernel has granted it.
    """
    calls = _CALLS.get(platform.machine())
    policy = getattr(os, 'SCHED_OTHER', None)
    if calls is None or policy is None or os.sched_getscheduler(0) != policy or not _is_known():
        return False
    set_attributes, get_attributes = calls
    call = ctypes.CDLL(None, use_errno=True).syscall
    buffer = ctypes.create_string_buffer(_ATTRIBUTES.size)
    if call(get_attributes, 0, buffer, len(buffer), 0):
        return False
    size, policy, flags, nice, priority, _, deadline, period = _ATTRIBUTES.unpack(buffer.raw)
    wanted = _ATTRIBUTES.pack(
        size, policy, flags, nice, priority, round(seconds * 1e9), deadline, period
    )
    return bool(call(set_attributes, 0, wanted, 0) == 0)


def _is_known() -> bool:
    """Return whether the kernel takes slices: older ones ignore the number without a word."""
    try:
        major, minor = platform.release().split('.')[:2]
        return (int(major), int(minor)) >= _FIRST_KERNEL
    except ValueError:
        return False


__all__ = ['SHORT', 'ask_for_short_slices']
