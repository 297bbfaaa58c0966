# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Scans and ranges: REP-117, and MuJoCo's own rays."""

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import LaserScan
from sensor_msgs.msg import Range

from urlab_ros_bridge.ros.messages.errors import BadScan
from urlab_ros_bridge.ros.messages.lidar import LaserScanTemplate
from urlab_ros_bridge.ros.messages.lidar import RangeTemplate
from urlab_ros_bridge.ros.messages.lidar import ScanGeometry
import urlab_ros_bridge.wire as wire

ROVER = Path(wire.__file__).parent.parent / 'models' / 'rover.xml'
SCAN = ScanGeometry(-math.pi, math.pi - 2 * math.pi / 360, 360, 0.12, 12.0, 0.1)
ORIGIN = np.array([0.3, -0.2, 0.25])


def scan_of(geometry, distances):
    raw = LaserScanTemplate('lidar', geometry).update(0, distances)
    return deserialize_message(raw, LaserScan)


def test_each_range_is_the_distance_along_its_angle():
    model = mujoco.MjModel.from_xml_path(str(ROVER))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    def distances(angles):
        rays = [np.array([math.cos(angle), math.sin(angle), 0.0]) for angle in angles]
        hit = np.zeros(1, np.int32)
        return np.array(
            [mujoco.mj_ray(model, data, ORIGIN, ray, None, 1, -1, hit) for ray in rays]
        )

    angles = SCAN.angle_min + SCAN.angle_increment * np.arange(SCAN.rays)
    scan = scan_of(SCAN, distances(angles).astype(np.float32))
    # A reader knows the angle of a beam from the message alone.
    ranges = np.array(scan.ranges)
    again = distances(scan.angle_min + scan.angle_increment * np.arange(len(ranges)))
    inside = np.isfinite(ranges)
    assert inside.sum() > 50
    np.testing.assert_allclose(ranges[inside], again[inside], rtol=1e-4)
    beyond = again[~inside]
    assert np.all((beyond < 0) | (beyond > SCAN.range_max) | (beyond < SCAN.range_min))


def test_ranges_without_return_too_near_and_too_far_follow_rep_117():
    values = np.array([-1.0, 0.0, 0.12, 5.0, 12.0, 12.5, math.nan, math.inf], np.float32)
    expected = [math.inf, -math.inf, 0.12, 5.0, 12.0, math.inf, math.nan, math.inf]
    scan = scan_of(ScanGeometry(0, 1, len(values), 0.12, 12.0), values)
    np.testing.assert_array_equal(scan.ranges, np.array(expected, np.float32))
    sonar = RangeTemplate('sonar', 0.1, 0.12, 12.0)
    single = [deserialize_message(sonar.update(0, [value]), Range).range for value in values]
    np.testing.assert_array_equal(single, np.array(expected, np.float32))


@given(st.integers(2, 4000), st.floats(-7, 7), st.floats(0.01, 7))
def test_the_number_of_rays_follows_from_the_angles(rays, angle_min, width):
    scan = scan_of(ScanGeometry(angle_min, angle_min + width, rays, 0.1, 10), np.zeros(rays))
    low, high, step = np.float32((scan.angle_min, scan.angle_max, scan.angle_increment))
    assert round(float((high - low) / step)) + 1 == len(scan.ranges) == rays


@pytest.mark.parametrize(
    'arguments',
    [
        (0, 1, 0, 0.1, 10),
        (0, 0, 2, 0.1, 10),
        (0, math.nan, 5, 0.1, 10),
        (0, 1, 5, 10, 0.1),
        (0, 1, 5, -1, 10),
        (0, 1, 1 << 40, 0.1, 10),
        (1000.0, 1000.0001, 100, 0.1, 10),
    ],
)
def test_scans_that_no_message_can_describe_are_refused(arguments):
    with pytest.raises(BadScan):
        ScanGeometry(*arguments)
