# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Time slices and timer slack change for the calling thread alone, and nothing else changes."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import re
import sys
import threading

import pytest

from urlab_ros_bridge.scheduling.thread_timing import ask_for_short_slices
from urlab_ros_bridge.scheduling.thread_timing import sleep_precisely


def slice_ns():
    """Return the time slice of the calling thread (ns), where the system reports it."""
    try:
        text = Path(f'/proc/self/task/{threading.get_native_id()}/sched').read_text('ascii')
    except OSError:
        text = ''
    found = re.search(r'se\.slice\s*:\s*(\d+)', text)
    if found is None:
        pytest.skip('the system does not report time slices')
    return int(found[1])


def slack_ns():
    """Return how much too long the calling thread may sleep (ns)."""
    return int(Path(f'/proc/{threading.get_native_id()}/timerslack_ns').read_text('ascii'))


def in_thread(call):
    """Return what a call returns in a thread of its own, which ends with it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def nature():
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)


def test_a_thread_gets_a_short_slice_and_keeps_its_policy_and_niceness():
    ordinary = slice_ns()

    def asked():
        before = nature()
        assert ask_for_short_slices(5e-4)
        assert nature() == before
        return slice_ns()

    if in_thread(asked) == ordinary:
        pytest.skip('this system takes the request and ignores it')
    assert in_thread(asked) == 500_000
    assert slice_ns() == ordinary  # of this thread


def test_a_chosen_scheduling_policy_is_kept():
    def asked():
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        return ask_for_short_slices(), os.sched_getscheduler(0)

    assert in_thread(asked) == (False, os.SCHED_BATCH)


@pytest.mark.skipif(sys.platform != 'linux', reason='only Linux has timer slack')
def test_timer_slack_changes_for_the_calling_thread_alone():
    def slack_after():
        sleep_precisely()
        return slack_ns()

    ordinary = slack_ns()
    assert in_thread(slack_after) == 1000 and slack_ns() == ordinary > 1000
