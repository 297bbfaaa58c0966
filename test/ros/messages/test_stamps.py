# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The time that bytes tell is the one that was put into the message."""

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from example_counts import examples
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.ros.messages.stamps import stamp_of
from urlab_ros_bridge.ros.messages.stamps import stamp_reader

times = st.builds(Time, sec=st.integers(0, 2**31 - 1), nanosec=st.integers(0, 10**9 - 1))


def nanoseconds(time):
    return time.sec * 10**9 + time.nanosec


@settings(max_examples=examples(40))
@given(
    times,
    st.text(st.characters(codec='ascii', exclude_characters='\0'), max_size=20),
    st.sampled_from([Odometry, JointState, Image, DiagnosticArray]),
)
def test_headers(time, frame, kind):
    message = kind(header=Header(stamp=time, frame_id=frame))
    assert stamp_reader(kind)(serialize_message(message)) == nanoseconds(time)
    assert stamp_of(message) == stamp_of(message.header) == nanoseconds(time)


@settings(max_examples=20)
@given(times, times, st.sampled_from([(TFMessage, TransformStamped), (MarkerArray, Marker)]))
def test_the_first_of_a_sequence_and_the_clock(time, later, kinds):
    whole, element = kinds
    elements = [element(header=Header(stamp=each, frame_id='map')) for each in (time, later)]
    name = next(iter(whole.get_fields_and_field_types()))
    read = stamp_reader(whole)
    assert read(serialize_message(whole(**{name: elements}))) == nanoseconds(time)
    assert read(serialize_message(whole())) == 0
    assert stamp_reader(Clock)(serialize_message(Clock(clock=time))) == nanoseconds(time)
