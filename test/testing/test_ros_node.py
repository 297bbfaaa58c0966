# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The node of a test is spun, whatever the test does with it."""

import threading

from domains import free_domain
import pytest
from rclpy.exceptions import InvalidHandle
from std_msgs.msg import String

from urlab_ros_bridge.testing.ros_node import SpunNode

pytestmark = pytest.mark.ros


def test_it_is_still_spun_when_something_was_destroyed_that_it_waits_for(monkeypatch):
    spun = SpunNode(free_domain())
    spin_once, gone, heard = spun._executor.spin_once, threading.Event(), threading.Event()

    def spin_what_is_gone(**options):
        if not gone.is_set():
            gone.set()
            raise InvalidHandle('cannot use Destroyable because destruction was requested')
        spin_once(**options)

    try:
        monkeypatch.setattr(spun._executor, 'spin_once', spin_what_is_gone)
        spun.node.create_subscription(String, 'last', lambda message: heard.set(), 1)
        publisher = spun.node.create_publisher(String, 'last', 1)
        assert gone.wait(10.0)
        for _ in range(100):
            publisher.publish(String())
            if heard.wait(0.1):
                break
        assert heard.is_set()
    finally:
        spun.close()
