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

from urlab_ros_bridge.ros.messages.base import BadScan
from urlab_ros_bridge.ros.messages.lidar import LaserScanTemplate
from urlab_ros_bridge.ros.messages.lidar import RangeTemplate
from urlab_ros_bridge.ros.messages.lidar import ScanGeometry
import urlab_ros_bridge.wire as wire

ROVER = Path(wire.__file__).parent.parent / 'models' / 'rover.xml'
SCAN = ScanGeometry(-math.pi, math.pi - 2 * math.pi / 360, 360, 0.12, 12.0, 0.1)
ORIGIN = np.array([0.3, -0.2, 0.25])


@pytest.fixture(scope='module')
def world():
    """Return the static part of the rover world."""
    model = mujoco.MjModel.from_xml_path(str(ROVER))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def scan_of(geometry, distances):
    raw = LaserScanTemplate('lidar', geometry).update(0, distances)
    return deserialize_message(raw, LaserScan)


def range_of(distance, *limits):
    raw = RangeTemplate('sonar', *limits).update(0, [distance])
    return deserialize_message(raw, Range).range


def distances(model, data, angles):
    hit = np.zeros(1, np.int32)
    return [
        mujoco.mj_ray(
            model,
            data,
            ORIGIN,
            np.array([math.cos(angle), math.sin(angle), 0.0]),
            None,
            1,
            -1,
            hit,
        )
        for angle in angles
    ]


def test_each_range_is_the_distance_along_its_angle(world):
    angles = SCAN.angle_min + SCAN.angle_increment * np.arange(SCAN.rays)
    measured = np.array(distances(*world, angles), np.float32)
    scan = scan_of(SCAN, measured)
    # A reader knows the angle of a beam from the message alone.
    from_message = [
        scan.angle_min + index * scan.angle_increment for index in range(len(scan.ranges))
    ]
    again = np.array(distances(*world, from_message))
    ranges = np.array(scan.ranges)
    inside = np.isfinite(ranges)
    assert inside.sum() > 50
    np.testing.assert_allclose(ranges[inside], again[inside], rtol=1e-4)
    beyond = again[~inside]
    assert np.all((beyond < 0) | (beyond > SCAN.range_max) | (beyond < SCAN.range_min))


def test_ranges_without_return_too_near_and_too_far_follow_rep_117():
    values = [-1.0, 0.0, 0.05, 0.12, 5.0, 12.0, 12.5, math.nan, math.inf]
    geometry = ScanGeometry(0, 1, len(values), 0.12, 12.0)
    for dtype in (np.float32, np.float64):
        scan = scan_of(geometry, np.array(values, dtype))
        expected = np.array(
            [math.inf, -math.inf, -math.inf, 0.12, 5.0, 12.0, math.inf, math.nan, math.inf],
            np.float32,
        )
        np.testing.assert_array_equal(np.array(scan.ranges, np.float32), expected)
        single = [
            range_of(float(value), 0.1, 0.12, 12.0) for value in np.array(values, np.float32)
        ]
        np.testing.assert_array_equal(np.array(single, np.float32), expected)


@given(st.integers(1, 4000), st.floats(-7, 7), st.floats(0.01, 7))
def test_the_number_of_rays_follows_from_the_angles(rays, angle_min, width):
    geometry = ScanGeometry(angle_min, angle_min + width, rays, 0.1, 10)
    scan = scan_of(geometry, np.zeros(rays))
    assert len(scan.ranges) == rays
    if rays > 1:
        low, high, step = np.float32((scan.angle_min, scan.angle_max, scan.angle_increment))
        assert round(float((high - low) / step)) + 1 == rays


@pytest.mark.parametrize(
    'arguments',
    [
        (0, 1, 0, 0.1, 10),
        (0, 1, -4, 0.1, 10),
        (0, 0, 2, 0.1, 10),
        (0, math.nan, 5, 0.1, 10),
        (0, math.inf, 5, 0.1, 10),
        (0, 1, 5, 10, 0.1),
        (0, 1, 5, -1, 10),
        (0, 1, 5, math.nan, 1),
        (0, 1, 1 << 40, 0.1, 10),
        (1000.0, 1000.0001, 100, 0.1, 10),
    ],
)
def test_scans_that_no_message_can_describe_are_refused(arguments):
    with pytest.raises(BadScan):
        ScanGeometry(*arguments)
