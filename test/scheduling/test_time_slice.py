# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of time slices: what is asked for holds for one thread, and nothing else of it changes."""

import os
from pathlib import Path
import re
import threading

import pytest

from urlab_ros_bridge.scheduling import thread_timing as module
from urlab_ros_bridge.scheduling.thread_timing import ask_for_short_slices


def slice_ns():
    """Return the time slice of the calling thread (ns), where the system reports it."""
    try:
        text = Path(f'/proc/self/task/{threading.get_native_id()}/sched').read_text('ascii')
    except OSError:
        text = ''
    found = re.search(r'se\.slice\s*:\s*(\d+)', text)
    if found is None:
        pytest.skip('the system does not tell time slices')
    return int(found[1])


def in_thread(call):
    """Return what a call returns in a thread of its own, which ends with it."""
    results = []

    def run():
        try:
            results.append(call())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    (result,) = results
    if isinstance(result, BaseException):
        raise result
    return result


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


@pytest.mark.parametrize('policy', ['SCHED_BATCH', 'SCHED_IDLE'])
def test_a_chosen_scheduling_policy_is_kept(policy):
    def asked():
        os.sched_setscheduler(0, getattr(os, policy), os.sched_param(0))
        before = nature()
        assert not ask_for_short_slices()
        return before, nature()

    before, after = in_thread(asked)
    assert before == after


def test_nothing_is_requested_on_an_unknown_architecture(monkeypatch):
    monkeypatch.setattr(module.platform, 'machine', lambda: 'abacus')
    assert not ask_for_short_slices()
