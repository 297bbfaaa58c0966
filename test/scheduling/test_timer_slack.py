# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that asks for it sleeps on time; others are left alone."""

from pathlib import Path
import sys
import threading

import pytest

from urlab_ros_bridge.scheduling.thread_timing import sleep_precisely


def slack_ns():
    """Return how much too long the calling thread may sleep (ns)."""
    path = Path(f'/proc/self/task/{threading.get_native_id()}/timerslack_ns')
    if not path.exists():
        path = Path(f'/proc/{threading.get_native_id()}/timerslack_ns')
    return int(path.read_text('ascii'))


@pytest.mark.skipif(sys.platform != 'linux', reason='only Linux has timer slack')
def test_timer_slack_changes_for_the_calling_thread_alone():
    ordinary, seen = slack_ns(), []

    def run():
        sleep_precisely()
        seen.append(slack_ns())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [1000] and slack_ns() == ordinary > 1000
