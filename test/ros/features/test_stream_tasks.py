# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import threading

import pytest

from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks


def test_a_task_that_does_not_begin_in_time_never_runs_and_errors_reach_who_waits():
    tasks, ran = StreamTasks(print), []
    tasks.thread = threading.current_thread()  # alive, but busy
    assert not tasks.run_and_wait(lambda: ran.append('late'), 0.01)
    tasks.wake = tasks.run_all
    with pytest.raises(ZeroDivisionError):
        tasks.run_and_wait(lambda: 1 / 0)
    assert tasks.run_and_wait(lambda: ran.append('in time')) and ran == ['in time']
