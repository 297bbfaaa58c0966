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


def values_of(twist):
    return [
        getattr(vector, name)
        for vector in (twist.linear, twist.angular)
        for name in ('x', 'y', 'z')
    ]


@given(numbers)
def test_a_twist_is_read_as_it_was_sent(values):
    read = twist_reading.twist_reader(Twist)(serialize_message(twist(values)))
    assert isinstance(read, twist_reading.TwistReading) and values_of(read) == values


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
    assert isinstance(read, twist_reading.TwistStampedReading)
    assert values_of(read.twist) == values
    assert (read.header.stamp.sec, read.header.stamp.nanosec) == (sec, nanosec)


@pytest.mark.parametrize('kind', [Twist, TwistStamped])
def test_bytes_of_another_order_become_an_ordinary_message(kind):
    if kind is Twist:
        head, message = b'', twist([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    else:
        message = TwistStamped(twist=twist([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        message.header.stamp.sec = 7
        head = bytes.fromhex('00000007 00000000 00000001 00000000')
    big = b'\x00\x00\x00\x00' + head + struct.pack('>6d', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    read = twist_reading.twist_reader(kind)(big)
    assert isinstance(read, kind) and read == message == deserialize_message(big, kind)


def numbers_in(read, data):
    """Return the numbers of a twist, None when the bytes cannot be read."""
    try:
        found = read(data)
    except Exception:
        return None
    return values_of(getattr(found, 'twist', found))


@pytest.mark.parametrize('kind', [Twist, TwistStamped])
@given(data=st.binary(max_size=80), plain=st.booleans())
def test_any_bytes_are_read_as_rclpy_reads_them_or_refused(kind, data, plain):
    data = (b'\x00\x01\x00\x00' if plain else b'') + data
    expected = numbers_in(lambda each: deserialize_message(each, kind), data)
    found = numbers_in(twist_reading.twist_reader(kind), data)
    assert expected is None or repr(found) == repr(expected)
