# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Sleeping until another process changes a word of shared memory (futex(2) of Linux).

Stock peers do not use it on Linux: they poll, and so must the peers that wait for them.  Without
futex, waiting is a plain sleep, and the caller polls.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
import time

_WAIT, _WAKE = 0, 1
_ALL = 2**31 - 1
# 64-bit userland only: there a timespec is two longs.
_NUMBERS = {'x86_64': 202, 'aarch64': 98, 'riscv64': 98}


class _Timespec(ctypes.Structure):
    _fields_ = (('seconds', ctypes.c_long), ('nanoseconds', ctypes.c_long))


class Futex:
    """
    One aligned 32-bit word in memory that processes share.

    :ivar supported: false where waiting is a plain sleep and waking does nothing.
    """

    def __init__(self, address: int) -> None:
        """Watch the word at `address`, which has to stay mapped."""
        self._address = ctypes.c_void_p(address)
        self._timeout = _Timespec()
        self._timeout_ref = ctypes.byref(self._timeout)
        self._number = _futex_number()
        self.supported = self._number > 0
        if self.supported:
            # Calls through this object release the interpreter lock.
            self._call = ctypes.CDLL(None).syscall
            self._call.restype = ctypes.c_long
            self.supported = self.wake() >= 0  # a sandbox may refuse the call

    def wait(self, expected: int, timeout: float) -> None:
        """
        Sleep until `wake`, unless the word differs from `expected` already.

        :param timeout: seconds after which this returns anyway.
        """
        if not self.supported:
            time.sleep(timeout)
            return
        seconds = int(timeout)
        self._timeout.seconds = seconds
        self._timeout.nanoseconds = int((timeout - seconds) * 1e9)
        self._call(
            self._number, self._address, _WAIT, ctypes.c_uint32(expected), self._timeout_ref, 0, 0
        )

    def wake(self) -> int:
        """Wake the waiting threads, in any process; return how many (negative: unsupported)."""
        if not self.supported:
            return -1
        return int(self._call(self._number, self._address, _WAKE, _ALL, 0, 0, 0))


def _futex_number() -> int:
    """Return the number of the system call, 0 where it is not known."""
    if sys.platform != 'linux' or struct.calcsize('P') != 8:
        return 0
    return _NUMBERS.get(platform.machine(), 0)
