# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How much of the machine rendering may take: all processors but one, so that physics finds one free.

Being nice is not enough: a tick that wakes up while software rendering holds every processor waits
for the end of a time slice, 3 ms on current kernels (docs/performance.md).
"""

from __future__ import annotations

import os

NICENESS = 5


def processors() -> list[int]:
    """Return the processors for rendering: all that this process may use, without the first."""
    if not hasattr(os, 'sched_getaffinity'):
        return []
    usable = sorted(os.sched_getaffinity(0))
    return usable[1:] or usable


def thread_variables() -> dict[str, str]:
    """Return the variables that keep Mesa's software rendering to as many threads."""
    count = len(processors()) or max(1, (os.cpu_count() or 2) - 1)
    return {'LP_NUM_THREADS': os.environ.get('LP_NUM_THREADS', str(count))}


def on_one_processor() -> bool:
    """Return whether all threads of this process share one processor."""
    return hasattr(os, 'sched_getaffinity') and len(os.sched_getaffinity(0)) == 1


def step_back() -> None:
    """Let others go first; call it before OpenGL and ZeroMQ start their threads."""
    os.nice(NICENESS)
    if hasattr(os, 'SCHED_BATCH'):
        # Waking up does not interrupt the running thread.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    chosen = processors()
    if chosen:
        os.sched_setaffinity(0, chosen)


__all__ = ['on_one_processor', 'processors', 'step_back', 'thread_variables']
