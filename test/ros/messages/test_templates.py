# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Each template puts readings where a subscriber finds them."""

import math

import numpy as np
import pytest
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.messages.errors import BadStamp
from urlab_ros_bridge.ros.messages.errors import WrongLength
from urlab_ros_bridge.ros.messages.geodesy import GeodeticOrigin
from urlab_ros_bridge.ros.messages.geometry import TFTemplate
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.nav_sat_fix import NavSatFixTemplate
from urlab_ros_bridge.ros.messages.robot import JointStateTemplate
from urlab_ros_bridge.ros.messages.robot import OdometryTemplate
from urlab_ros_bridge.ros.messages.sensor_stamped import SensorStampedTemplate

pytestmark = pytest.mark.distro

FRAMES = (('odom', 'base_link'), ('base_link', 'base_footprint'), ('map', 'a_very_long_name'))
ORIGIN = GeodeticOrigin(48.1, 11.5, 520.0)
V, W, DOUBLE = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0, 2.0]
POSES = [[*V, 0.0, 0.0, 0.0, 1.0], [*W, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
HALF = 0.5**0.5

# Name -> (how it is made, readings, what is found: path -> numbers).
CASES = {
    'joint_state': (
        lambda: JointStateTemplate(['a', 'b']),
        [[1.0, 2.0], [3.0, 4.0], [5.0, math.nan]],
        {'name': ['a', 'b'], 'position': [1, 2], 'velocity': [3, 4], 'effort': [5, math.nan]},
    ),
    'odometry': (
        # Turned by 90 degrees about z: the world's x axis points to the right.
        lambda: OdometryTemplate('odom', 'base', [1, 2, 3, 4, 5, 6], None),
        [[*V, 0.0, 0.0, HALF, HALF, 2.0, 0.0, 1.0, *W]],
        {
            'header.frame_id': 'odom',
            'child_frame_id': 'base',
            'pose.pose.position': V,
            'pose.pose.orientation': [0, 0, HALF, HALF],
            'twist.twist.linear': [0, -2, 1],
            'twist.twist.angular': W,
            'pose.covariance': np.diag([1, 4, 9, 16, 25, 36]).ravel(),
            'twist.covariance': np.zeros(36),
        },
    ),
    'fix': (
        lambda: NavSatFixTemplate('gps', ORIGIN, [1.0, 2.0, 3.0, 0.1, 0.1, 0.1]),
        [[0.0, 0.0, 0.0]],
        {
            'header.frame_id': 'gps',
            'latitude': 48.1,
            'longitude': 11.5,
            'altitude': 520.0,
            'position_covariance': [1, 0, 0, 0, 4, 0, 0, 0, 9],
            'position_covariance_type': 2,
        },
    ),
    'imu': (
        lambda: ImuTemplate('imu_link', 0.1, 0.2, 0.3),
        [DOUBLE, V, W],
        {
            'orientation': [0, 0, 0, 1],
            'angular_velocity': V,
            'linear_acceleration': W,
            'orientation_covariance': np.diag([0.01] * 3).ravel(),
            'angular_velocity_covariance': np.diag([0.04] * 3).ravel(),
            'linear_acceleration_covariance': np.diag([0.09] * 3).ravel(),
        },
    ),
    # -1: not reported; all zeros: reported, error unknown.
    'imu_gyro': (
        lambda: ImuTemplate('g', None, 0.0, None),
        [None, V, None],
        {
            'angular_velocity': V,
            'orientation_covariance': [-1] + [0] * 8,
            'angular_velocity_covariance': [0] * 9,
            'linear_acceleration_covariance': [-1] + [0] * 8,
        },
    ),
    'magnetic_field': (
        lambda: MagneticFieldTemplate('imu_link', 1e-3),
        [V],
        {
            'magnetic_field': [1e-4, 2e-4, 3e-4],
            'magnetic_field_covariance': np.diag([1e-6] * 3).ravel(),
        },
    ),
    'tf': (
        lambda: TFTemplate(FRAMES),
        [POSES],
        {
            'transforms[1].child_frame_id': 'base_footprint',
            'transforms[1].header.frame_id': 'base_link',
            'transforms[2].header.stamp.nanosec': 7,
            'transforms[0].transform.translation': V,
            'transforms[1].transform.translation': W,
            'transforms[1].transform.rotation': [1, 0, 0, 0],
            'transforms[2].transform.rotation': [0, 1, 0, 0],
        },
    ),
    'sensor': (
        lambda: SensorStampedTemplate('foot', 'FL', 'touch', 'N', 3),
        [V],
        {'header.frame_id': 'foot', 'name': 'FL', 'type': 'touch', 'unit': 'N', 'data': V},
    ),
}


ALL = [pytest.param(*case, id=name) for name, case in CASES.items()]


def at(message, path):
    """Return a field; of vectors and quaternions, their numbers."""
    value = eval(f'message.{path}', {'message': message})
    if not hasattr(value, 'get_fields_and_field_types'):
        return value
    return [getattr(value, name) for name in value.get_fields_and_field_types()]


@pytest.mark.parametrize(('make', 'readings', 'found'), ALL)
@pytest.mark.parametrize('convert', [list, np.float32], ids=['list', 'f4'])
def test_readings_of_every_kind_are_found_in_the_message(make, readings, found, convert):
    template = make()
    raw = template.update(7, *(None if each is None else convert(each) for each in readings))
    message = deserialize_message(raw, template.message_type)
    for path, wanted in found.items():
        if isinstance(wanted, str) or path == 'name':
            assert at(message, path) == wanted
        else:
            np.testing.assert_allclose(at(message, path), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(('make', 'readings', 'found'), ALL)
def test_wrong_lengths_are_refused(make, readings, found):
    template = make()
    for index, reading in enumerate(readings):
        # One value would be stretched over all by numpy.
        for wrong in {1, len(reading) - 1, len(reading) + 1} - {len(reading)} if reading else ():
            values = list(readings)
            values[index] = np.zeros((wrong, *np.shape(reading)[1:]))
            with pytest.raises(WrongLength):
                template.update(5, *values)


@pytest.mark.parametrize('stamp', [-1, (1 << 31) * 10**9])
def test_stamps_that_no_message_can_carry_are_refused(stamp):
    with pytest.raises(BadStamp, match=str(stamp)):
        check_stamp(stamp)
