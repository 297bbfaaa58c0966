# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist  # noqa: E402
from geometry_msgs.msg import TwistStamped  # noqa: E402

from urlab_ros_bridge.ros.messages.twist_reading import velocity_of  # noqa: E402

numbers = st.lists(st.floats(allow_nan=False), min_size=6, max_size=6)


def twist(values):
    message = Twist()
    for vector, part in ((message.linear, values[:3]), (message.angular, values[3:])):
        vector.x, vector.y, vector.z = part
    return message


@given(numbers, st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1))
def test_both_types_are_read_alike(values, sec, nanosec):
    message = TwistStamped(twist=twist(values))
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    stamped, plain = velocity_of(message), velocity_of(twist(values))
    assert [*stamped.linear, *stamped.angular] == [*plain.linear, *plain.angular] == values
    assert stamped.stamp_ns == sec * 10**9 + nanosec and plain.stamp_ns == 0
