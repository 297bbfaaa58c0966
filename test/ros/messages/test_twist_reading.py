# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import struct

from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist  # noqa: E402
from geometry_msgs.msg import TwistStamped  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402

from urlab_ros_bridge.ros.messages import twist_reading  # noqa: E402

numbers = st.lists(st.floats(allow_nan=False), min_size=6, max_size=6)


def twist(values):
    message = Twist()
    for vector, part in ((message.linear, values[:3]), (message.angular, values[3:])):
        vector.x, vector.y, vector.z = part
    return message


@given(numbers)
def test_a_twist_is_read_as_it_was_sent(values):
    read = twist_reading.twist_reader(Twist)(serialize_message(twist(values)))
    assert [*read.linear, *read.angular] == values and read.stamp_ns == 0
    assert read == twist_reading.velocity_of(twist(values))


@given(
    numbers,
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.text(st.characters(exclude_characters='\0', codec='utf-8'), max_size=20),
)
def test_a_stamped_twist_is_read_as_it_was_sent_whatever_its_frame(values, sec, nanosec, frame):
    message = TwistStamped(twist=twist(values))
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    read = twist_reading.twist_reader(TwistStamped)(serialize_message(message))
    assert [*read.linear, *read.angular] == values
    assert read.stamp_ns == sec * 10**9 + nanosec
    assert read == twist_reading.velocity_of(message)


@pytest.mark.parametrize('kind', [Twist, TwistStamped])
def test_bytes_of_another_order_are_read_by_rclpy(kind):
    if kind is Twist:
        head, message = b'', twist([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    else:
        message = TwistStamped(twist=twist([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        message.header.stamp.sec = 7
        head = bytes.fromhex('00000007 00000000 00000001 00000000')
    big = b'\x00\x00\x00\x00' + head + struct.pack('>6d', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    read = twist_reading.twist_reader(kind)(big)
    assert read == twist_reading.velocity_of(message) and message == deserialize_message(big, kind)
    assert read.angular == (4.0, 5.0, 6.0) and read.stamp_ns == (kind is TwistStamped) * 7 * 10**9


def read_or_none(read, data):
    """Return what is read of a twist, None when the bytes cannot be read."""
    try:
        return read(data)
    except Exception:
        return None


@pytest.mark.parametrize('kind', [Twist, TwistStamped])
@given(data=st.binary(max_size=80), plain=st.booleans())
def test_any_bytes_are_read_as_rclpy_reads_them_or_refused(kind, data, plain):
    data = (b'\x00\x01\x00\x00' if plain else b'') + data

    def by_rclpy(each):
        return twist_reading.velocity_of(deserialize_message(each, kind))

    expected = read_or_none(by_rclpy, data)
    found = read_or_none(twist_reading.twist_reader(kind), data)
    assert expected is None or repr(found) == repr(expected)
