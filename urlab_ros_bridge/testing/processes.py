# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Processes that tests start: none outlives the test run, however that ends.

Not even `kill -9` of pytest leaves a server or a bridge behind, for each is tied to this process
by the lifeline that `urlab up` uses.
"""

from __future__ import annotations

from collections.abc import Iterable
import ctypes
import os
import signal
import subprocess
from typing import Any

from urlab_ros_bridge.lifeline import PR_SET_PDEATHSIG
from urlab_ros_bridge.lifeline import tied


def start_process(command: Iterable[object], **options: Any) -> subprocess.Popen[Any]:
    """Start a program as `subprocess.Popen` does; from a thread that lives as long as it."""
    return subprocess.Popen(tied([*map(str, command)]), **_own_group(options))


def run_process(command: Iterable[object], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program as `subprocess.run` does."""
    return subprocess.run(tied([*map(str, command)]), **_own_group(options))


def end_process(process: subprocess.Popen[Any], seconds: float = 8.0) -> None:
    """Interrupt a program, and kill it when it has not ended in time (s of wall time)."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tie_worker() -> None:
    """
    End a worker of pytest-xdist, and so what it has started, with its test run.

    Does nothing in other processes.
    """
    if 'PYTEST_XDIST_WORKER' in os.environ:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _own_group(options: dict[str, Any]) -> dict[str, Any]:
    """
    Return the options for a process group of its own.

    The kernel continues a stopped process, so that it can end, when no process is left that could
    have continued its group.  And Ctrl-C ends tests, which then end their processes in order.
    """
    return options if options.get('start_new_session') else {'process_group': 0, **options}


__all__ = ['end_process', 'run_process', 'start_process', 'tie_worker']
