# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
import pytest

from urlab_ros_bridge.ros.rclpy_tools.twist_type import message_type

pytestmark = [pytest.mark.ros, pytest.mark.distro]


@pytest.mark.parametrize(
    ('setting', 'distribution', 'expected'),
    [
        ('auto', 'humble', Twist),
        ('auto', 'jazzy', Twist),
        ('auto', 'kilted', TwistStamped),
        ('auto', 'lyrical', TwistStamped),
        ('twist', 'kilted', Twist),
        ('twist_stamped', 'jazzy', TwistStamped),
    ],
)
def test_auto_follows_what_nav2_of_the_distribution_sends(setting, distribution, expected):
    assert message_type(setting, distribution) is expected
