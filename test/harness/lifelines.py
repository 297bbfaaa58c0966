# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of our own tests; those of users start theirs by the same functions."""

import contextlib
from pathlib import Path
import signal
import time

from urlab_ros_bridge.testing.processes import run_process
from urlab_ros_bridge.testing.processes import start_process


def stop_for_a_while(process, timeout=60.0):
    """
    Stop a process, and return when each of its threads has stopped.

    SIGSTOP is delivered to one of them, and the others run until that one had a processor: on a
    busy machine long enough to answer a request.
    """
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + timeout
    while any(state != 'T' for state in _thread_states(process.pid)):
        assert time.monotonic() < deadline, f'process {process.pid} did not stop'
        time.sleep(0.005)


def has_ended(pid):
    """Return whether a process has ended, reaped by its parent or not."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


def ends(pid, timeout=20.0):
    """Wait for the end of a process that need not be a child; return whether it came."""
    deadline = time.monotonic() + timeout
    while not has_ended(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _thread_states(pid):
    for path in Path(f'/proc/{pid}/task').glob('*/stat'):
        with contextlib.suppress(OSError):  # a thread that has just ended
            yield path.read_text().rpartition(')')[2].split()[0]


__all__ = ['ends', 'has_ended', 'run_process', 'start_process', 'stop_for_a_while']
