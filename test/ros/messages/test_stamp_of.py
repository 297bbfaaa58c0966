# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import PointStamped  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Empty  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

from urlab_ros_bridge.ros.messages import stamp_of  # noqa: E402


@pytest.mark.parametrize('kind', [Header, PointStamped, JointState])
@given(sec=st.integers(-(2**31), 2**31 - 1), nanosec=st.integers(0, 10**9 - 1))
def test_the_stamp_is_read_without_deserialising(kind, sec, nanosec):
    message = kind()
    stamp = message.stamp if kind is Header else message.header.stamp
    stamp.sec, stamp.nanosec = sec, nanosec
    assert stamp_of.has_stamp(kind)
    assert stamp_of.raw_stamp(serialize_message(message)) == stamp_of.message_stamp(message)
    assert stamp_of.message_stamp(message) == sec * 10**9 + nanosec


def test_big_endian_bytes_are_read_too():
    assert stamp_of.raw_stamp(bytes.fromhex('00000000 00000003 00000007')) == 3_000_000_007


@pytest.mark.parametrize('kind', [Empty, Twist])
def test_types_without_a_header_have_no_stamp(kind):
    assert not stamp_of.has_stamp(kind)
    assert stamp_of.raw_stamp(serialize_message(Empty())) == 0
