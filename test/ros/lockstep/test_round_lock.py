# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.lockstep.waits import RoundLock  # noqa: E402


def test_a_request_waits_for_the_round_and_rounds_for_the_request():
    lock, order = RoundLock(), []
    inside, leave = threading.Event(), threading.Event()

    def make_request():
        with lock.request(10.0):
            order.append('request')
            inside.set()
            leave.wait(10.0)

    thread = threading.Thread(target=make_request)
    with lock.round(0.0) as mine:
        thread.start()
        assert mine and not inside.wait(0.05)
        order.append('round')
    assert inside.wait(10.0)
    with lock.round(0.05) as mine:
        assert not mine
    leave.set()
    thread.join()
    with lock.round(0.05) as mine:
        assert mine
    assert order == ['round', 'request']
