# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Become another program that ends with its parent (Linux).

`python -I -S lifeline.py PARENT_PID [--hold-interrupt] PROGRAM ARG...` asks the kernel for SIGTERM
when the parent has ended and then turns into PROGRAM, so not even `kill -9` of the parent leaves
it behind.  A program of its own rather than a `preexec_fn`, which is not safe in a process with
threads.  Imports only the standard library, so that it costs some 10 ms.

With `--hold-interrupt` PROGRAM starts with SIGINT blocked and unblocks it itself (`cli.signals`):
Python prints a traceback for a Ctrl-C while it starts.
"""

# The C half of `signal`: until SIGINT is blocked, nothing is imported that has to be loaded first.
import _signal  # type: ignore[import-not-found]
import os
import sys

HOLD_INTERRUPT = '--hold-interrupt'
PR_SET_PDEATHSIG = 1
COULD_NOT_START = 127


def tied(program: list[str], hold_interrupt: bool = False) -> list[str]:
    """Return the command line of a program that dies with this process."""
    hold = [HOLD_INTERRUPT] if hold_interrupt else []
    return [sys.executable, '-I', '-S', __file__, str(os.getpid()), *hold, *program]


def tie_to_parent(ancestor: int) -> None:
    """
    Ask for SIGTERM when this process's parent dies; exit when the ancestor has died already.

    The ancestor is the parent itself, unless a debugger or a terminal is between the two.

    :raises OSError: when the kernel refuses.
    """
    import ctypes  # this module is imported for its names too

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, _signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'prctl(PR_SET_PDEATHSIG) failed')
    process = os.getppid()
    while process != ancestor:
        if process <= 1:
            sys.exit(COULD_NOT_START)
        process = _parent_of(process)


def _parent_of(process: int) -> int:
    """Return the parent of a process, 0 when it has ended (proc_pid_stat(5))."""
    try:
        with open(f'/proc/{process}/stat', encoding='utf-8', errors='replace') as file:
            stat = file.read()
    except OSError:
        return 0
    return int(stat.rpartition(')')[2].split()[1])


def main(argv: list[str]) -> int:
    """Tie this process to the one with id `argv[0]`, and become the program that follows."""
    ancestor, *program = argv
    if program[0] == HOLD_INTERRUPT:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT})
        program = program[1:]
    tie_to_parent(int(ancestor))
    try:
        os.execvp(program[0], program)
    except OSError as error:
        print(f'cannot start {program[0]}: {error.strerror}', file=sys.stderr, flush=True)
    return COULD_NOT_START


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
