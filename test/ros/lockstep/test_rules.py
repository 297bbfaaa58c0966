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

from urlab_ros_bridge.ros.lockstep import rules  # noqa: E402


@given(st.integers(1, 100_000), st.sampled_from([0.0005, 0.001, 0.002, 1 / 60, 0.0041]))
def test_every_multiple_of_the_timestep_is_a_period_and_nothing_between(count, timestep):
    assert rules.steps_of(count * timestep, timestep) == count
    assert rules.steps_of(round(count * timestep, 9), timestep) == count
    with pytest.raises(rules.BadPeriod) as caught:
        rules.steps_of((count + 0.4) * timestep, timestep)
    assert rules.steps_of(caught.value.nearest, timestep) == count


def test_a_period_below_the_timestep_names_the_timestep():
    with pytest.raises(rules.BadPeriod, match='nearest is 0\\.002'):
        rules.steps_of(0.0001, 0.002)


@pytest.mark.parametrize('kind', [Header, PointStamped, JointState])
@given(sec=st.integers(-(2**31), 2**31 - 1), nanosec=st.integers(0, 10**9 - 1))
def test_the_stamp_is_read_without_deserialising(kind, sec, nanosec):
    message = kind()
    stamp = message.stamp if kind is Header else message.header.stamp
    stamp.sec, stamp.nanosec = sec, nanosec
    assert rules.has_stamp(kind)
    assert rules.raw_stamp(serialize_message(message)) == rules.message_stamp(message)
    assert rules.message_stamp(message) == sec * 10**9 + nanosec


def test_big_endian_bytes_are_read_too():
    assert rules.raw_stamp(bytes.fromhex('00000000 00000003 00000007')) == 3_000_000_007


@pytest.mark.parametrize('kind', [Empty, Twist])
def test_types_without_a_header_have_no_stamp(kind):
    assert not rules.has_stamp(kind)
    assert rules.raw_stamp(serialize_message(Empty())) == 0
