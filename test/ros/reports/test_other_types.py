# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever publishes cmd_vel of the type that is not taken is told so, over DDS."""

from bridge_harness import wait_for_message
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
import pytest

pytestmark = pytest.mark.ros


def test_diagnostics_name_the_publisher_and_the_parameter(small_server, bridged):
    _, listener = bridged(small_server(), cmd_vel_type='twist')
    publisher = listener.node.create_publisher(TwistStamped, 'cmd_vel', 1)

    def told(message):
        return any(
            status.level == b'\x01' and 'is ignored' in status.message for status in message.status
        )

    seen = wait_for_message(listener, DiagnosticArray, '/diagnostics', told)
    (status,) = (each for each in seen.status if 'types of commands' in each.name)
    assert '/listener publishes /cmd_vel as geometry_msgs/msg/' in status.message
    assert 'cmd_vel_type set to "twist_stamped"' in status.message
    listener.node.destroy_publisher(publisher)
