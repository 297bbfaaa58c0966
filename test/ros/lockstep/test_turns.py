# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.lockstep.turns import Turns  # noqa: E402


def test_a_guest_waits_for_the_round_and_rounds_for_the_guest():
    turns, order = Turns(), []
    inside, leave = threading.Event(), threading.Event()

    def visit():
        with turns.guest(10.0):
            order.append('guest')
            inside.set()
            leave.wait(10.0)

    visitor = threading.Thread(target=visit)
    with turns.round(0.0) as mine:
        visitor.start()
        assert mine and not inside.wait(0.05)
        order.append('round')
    assert inside.wait(10.0)
    with turns.round(0.05) as mine:
        assert not mine
    leave.set()
    visitor.join()
    with turns.round(0.05) as mine:
        assert mine
    assert order == ['round', 'guest']


def test_a_guest_does_not_wait_for_ever():
    turns = Turns()
    with turns.round(0.0), turns.guest(0.01):
        pass
    with turns.round(0.0) as mine:
        assert mine
