# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Become another program that dies with its parent (Linux).

`python -I -S lifeline.py PARENT_PID PROGRAM ARG...` asks the kernel for SIGTERM when the parent is
gone and then turns into PROGRAM, so not even `kill -9` of the parent leaves it behind.  A program
of its own rather than a `preexec_fn`, which is not safe in a process with threads.  Imports only
the standard library, so that it costs some 10 ms.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
COULD_NOT_START = 127


def tie_to_parent(parent: int) -> None:
    """
    Ask for SIGTERM when this process's parent dies; exit when it has died already.

    :raises OSError: when the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'prctl(PR_SET_PDEATHSIG) failed')
    if os.getppid() != parent:
        sys.exit(COULD_NOT_START)


def main(argv: list[str]) -> int:
    """Tie this process to `argv[0]`, its parent, and become the program `argv[1:]`."""
    tie_to_parent(int(argv[0]))
    try:
        os.execvp(argv[1], argv[1:])
    except OSError as error:
        print(f'cannot start {argv[1]}: {error.strerror}', file=sys.stderr, flush=True)
    return COULD_NOT_START


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
