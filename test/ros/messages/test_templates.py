# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Each template gives the bytes that the middleware makes of the ordinary message."""

import math

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest
from random_messages import comparable
from random_messages import decoded
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros import messages as c
from urlab_ros_bridge.ros.messages.cdr import template as cdr_template
from urlab_ros_bridge.ros.messages.cdr import TemplateMismatch
from urlab_ros_bridge.ros.messages.nav_sat_fix import GeodeticOrigin
from urlab_ros_bridge.ros.messages.nav_sat_fix import NavSatFixTemplate
from urlab_ros_bridge.ros.plan.frame_tree import StaticTransform
from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import SENSOR_STAMPED
from urlab_ros_bridge.ros.rclpy_tools.compat import TF_MESSAGE

pytestmark = [pytest.mark.ros, pytest.mark.distro]

FRAMES = (('odom', 'base_link'), ('base_link', 'base_footprint'), ('map', 'a_very_long_name'))
JOINTS = [f'joint_{index}' for index in range(5)]
SCAN = c.ScanGeometry(-1.0, 1.0, 9, 0.1, 10.0, 0.1)

needs_tf = pytest.mark.skipif(find_interface(TF_MESSAGE) is None, reason='tf2_msgs is missing')
needs_urlab = pytest.mark.skipif(
    find_interface(SENSOR_STAMPED) is None, reason='urlab_msgs is missing'
)

# Name -> (template factory, length of each argument after the stamp).
CASES = {
    'clock': (c.ClockTemplate, []),
    'joint_state': (lambda: c.JointStateTemplate(JOINTS), [5, 5, 5]),
    'joint_state_no_effort': (lambda: c.JointStateTemplate(JOINTS, effort=False), [5, 5, 5]),
    'joint_state_one': (lambda: c.JointStateTemplate(['a'], 'base_link'), [1, 1, 1]),
    'joint_state_none': (lambda: c.JointStateTemplate([]), [0, 0, 0]),
    'odometry': (lambda: c.OdometryTemplate('odom', 'base_link', [0.1] * 6, [0.2] * 6), [13]),
    'odometry_unknown': (lambda: c.OdometryTemplate('o', 'robot/base'), [13]),
    'pose': (lambda: c.PoseStampedTemplate('map'), [3, 4]),
    'vector3': (lambda: c.Vector3StampedTemplate('imu'), [3]),
    'point': (lambda: c.PointStampedTemplate('map'), [3]),
    'quaternion': (lambda: c.QuaternionStampedTemplate('map'), [4]),
    'fix': (
        lambda: NavSatFixTemplate('base_link', GeodeticOrigin(48.1, 11.5, 520.0), [0.5] * 6),
        [3],
    ),
    'fix_unknown': (lambda: NavSatFixTemplate('g', GeodeticOrigin(0.0, 180.0, 0.0), None), [3]),
    'imu': (lambda: c.ImuTemplate('imu_link', 0.01, 0.02, 0.03), [4, 3, 3]),
    'imu_raw': (lambda: c.ImuTemplate('imu_link', None, 0.0, 0.0), [4, 3, 3]),
    'imu_gyro': (lambda: c.ImuTemplate('g', None, 0.1, None), [4, 3, 3]),
    'magnetic_field': (lambda: c.MagneticFieldTemplate('imu_link', 1e-6), [3]),
    'wrench': (lambda: c.WrenchStampedTemplate('wrist'), [3, 3]),
    'twist': (lambda: c.TwistStampedTemplate('probe'), [3, 3]),
    'range': (lambda: c.RangeTemplate('sonar', 0.1, 0.02, 4.0), [1]),
    'range_unlimited': (lambda: c.RangeTemplate('sonar'), [1]),
    'scan': (lambda: c.LaserScanTemplate('lidar', SCAN), [9]),
    'tf': (lambda: c.TFTemplate(FRAMES), [(3, 7)]),
    'tf_one': (lambda: c.TFTemplate(FRAMES[:1]), [(1, 7)]),
    'sensor': (lambda: c.SensorStampedTemplate('foot', 'FL', 'touch', 'N', 1), [1]),
    'sensor_wide': (lambda: c.SensorStampedTemplate('', 'skin', 'tactile', '', 40), [40]),
}


def marks(name):
    return {'tf': [needs_tf], 'sen': [needs_urlab]}.get(name.partition('_')[0][:3], [])


ALL = [pytest.param(*case, id=name, marks=marks(name)) for name, case in CASES.items()]

stamps = st.integers(0, (1 << 31) * 1_000_000_000 - 1)
numbers = st.floats(allow_nan=True, allow_infinity=True)


def arguments(data, shapes, dtype):
    for shape in shapes:
        size = math.prod(shape) if isinstance(shape, tuple) else shape
        values = data.draw(st.lists(numbers, min_size=size, max_size=size))
        with np.errstate(over='ignore'):
            yield np.array(values, dtype).reshape(shape)


@pytest.mark.parametrize(('make', 'shapes'), ALL)
@pytest.mark.parametrize('dtype', [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_update_equals_the_serialised_message(make, shapes, dtype, data):
    template = make()
    assert template.fallback_reason is None
    for _ in range(2):
        stamp = data.draw(stamps)
        values = list(arguments(data, shapes, dtype))
        message = template.message(stamp, *values)
        result = template.update(stamp, *values)
        expected = serialize_message(message)
        assert type(result) is bytes
        assert comparable(message, result) == comparable(message, expected)
        assert decoded(type(message), result) == decoded(type(message), expected)
        assert type(message) is template.message_type


@pytest.mark.parametrize(('make', 'shapes'), ALL)
def test_sequences_are_as_good_as_arrays(make, shapes):
    template = make()
    arrays = [
        np.linspace(0.1, 3.0, math.prod(np.atleast_1d(shape))).reshape(shape) for shape in shapes
    ]
    lists = [values.tolist() for values in arrays]
    tuples = [
        tuple(map(tuple, values)) if np.ndim(values) > 1 else tuple(values) for values in lists
    ]
    assert template.update(5, *arrays) == template.update(5, *lists)
    assert template.update(5, *arrays) == template.update(5, *tuples)


@pytest.mark.parametrize(('make', 'shapes'), ALL)
@pytest.mark.parametrize('extra', [-1, 1, None])
def test_wrong_lengths_are_refused(make, shapes, extra):
    template = make()
    for index, shape in enumerate(shapes):
        count = shape[0] if isinstance(shape, tuple) else shape
        # None: one value, which numpy would stretch over all.
        wrong = 1 if extra is None else count + extra
        if wrong < 0 or wrong == count or _ignored(template, index):
            continue
        values = [np.zeros(size) for size in shapes]
        values[index] = np.zeros((wrong, 7) if isinstance(shape, tuple) else wrong)
        with pytest.raises(c.WrongLength):
            template.update(5, *values)
        with pytest.raises(c.WrongLength):
            template.message(5, *values)


def _ignored(template, index):
    """Return whether an argument is of a field that is not reported."""
    if template.message_type.__name__ == 'Imu':
        return template._stddevs[index] is None
    return (
        template.message_type.__name__ == 'JointState'
        and index == 2
        and (not template._has_effort)
    )


def test_another_middleware_gets_message_objects(monkeypatch):
    monkeypatch.setattr(
        cdr_template, 'serialize_message', lambda message: b'\0\0' + serialize_message(message)[2:]
    )
    template = c.PoseStampedTemplate('map')
    assert isinstance(template.fallback_reason, TemplateMismatch)
    result = template.update(7, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
    assert isinstance(result, template.message_type)
    assert (result.header.stamp.nanosec, result.pose.position.y) == (7, 2.0)


def test_the_stamp_carries_over_into_seconds():
    for stamp, pair in (
        (0, (0, 0)),
        (999_999_999, (0, 999_999_999)),
        (10**9, (1, 0)),
        (2_147_483_647_999_999_999, (2_147_483_647, 999_999_999)),
    ):
        time = c.clock_to_ros(c.check_stamp(stamp)).clock
        assert (time.sec, time.nanosec) == pair


@pytest.mark.parametrize('stamp', [-1, -(1 << 63), (1 << 31) * 10**9, (1 << 63) - 1])
def test_stamps_that_no_message_can_carry(stamp):
    with pytest.raises(c.BadStamp, match=str(stamp)):
        c.check_stamp(stamp)


def test_efforts_that_are_missing_are_an_error():
    template = c.JointStateTemplate(['a'])
    for make in (template.update, template.message):
        with pytest.raises(c.WrongLength):
            make(0, [1.0], [1.0])


@needs_tf
def test_every_transform_has_the_stamp_and_its_frames():
    message = c.transforms_to_ros(1_500_000_000, FRAMES, np.tile([1, 2, 3, 0, 0, 0, 2.0], (3, 1)))
    for transform, frames in zip(message.transforms, FRAMES, strict=True):
        assert (transform.header.frame_id, transform.child_frame_id) == frames
        assert (transform.header.stamp.sec, transform.header.stamp.nanosec) == (1, 500_000_000)
        assert transform.transform.rotation.w == 1.0


@needs_tf
def test_static_transforms():
    message = c.static_transforms_to_ros(
        [StaticTransform('base_link', 'imu', (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0))]
    )
    (transform,) = message.transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ('base_link', 'imu')
    assert transform.transform.translation.z == 3.0
    assert (transform.transform.rotation.x, transform.transform.rotation.w) == (1.0, 0.0)
