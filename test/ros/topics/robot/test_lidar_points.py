# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The points of a 3-D lidar as consumers of PointCloud2 read them."""

import math
from pathlib import Path

from bridge_harness import LATCHED
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from tf2_msgs.msg import TFMessage

from urlab_ros_bridge.client.replies.handshake import PointLidar
from urlab_ros_bridge.ros.messages.errors import WrongLength
from urlab_ros_bridge.ros.messages.lidar import LidarPointsTemplate

LIDAR = PointLidar('top', -1.0, 1.0, -0.2, 0.4, 0.5, 20.0, 10.0, 4, 6, 'top')
KINDS = {PointField.FLOAT32: '<f4', PointField.UINT16: '<u2'}
WORLD = Path(__file__).with_name('lidar_room') / 'room.yaml'


def read(cloud):
    """Return the points of a message by its own description, shape (height, width)."""
    names = [field.name for field in cloud.fields]
    assert all(field.count == 1 for field in cloud.fields) and not cloud.is_bigendian
    point = np.dtype(
        {
            'names': names,
            'formats': [KINDS[field.datatype] for field in cloud.fields],
            'offsets': [field.offset for field in cloud.fields],
            'itemsize': cloud.point_step,
        }
    )
    assert cloud.row_step == cloud.width * cloud.point_step
    return np.frombuffer(bytes(cloud.data), point).reshape(cloud.height, cloud.width)


def test_fields_are_those_of_the_drivers_and_points_lie_along_their_rays():
    ranges = np.linspace(0.3, 22.0, 24, dtype=np.float32).reshape(4, 6)
    ranges[1, 2] = -1.0
    intensities = np.arange(24, dtype=np.uint8).reshape(4, 6)
    template = LidarPointsTemplate('top', LIDAR)
    with pytest.raises(WrongLength):
        template.update(0, ranges[:3], intensities[:3])
    message = template.update(1_500_000_000, ranges, intensities)
    cloud = deserialize_message(message, PointCloud2)
    assert (cloud.header.frame_id, cloud.header.stamp.nanosec) == ('top', 500_000_000)
    assert not cloud.is_dense
    points = read(cloud)
    assert points.dtype.names == ('x', 'y', 'z', 'intensity', 'ring', 'time')
    assert (points['ring'] == np.arange(4)[:, None]).all() and not points['time'].any()
    np.testing.assert_array_equal(points['intensity'], intensities)
    met = (ranges >= 0.5) & (ranges <= 20.0)
    assert 15 < met.sum() < 24
    assert np.isnan(points['x'][~met]).all() and np.isnan(points['z'][~met]).all()
    x, y, z = (points[name][met].astype(float) for name in 'xyz')
    np.testing.assert_allclose(np.sqrt(x * x + y * y + z * z), ranges[met], rtol=1e-5)
    ring, column = np.nonzero(met)
    np.testing.assert_allclose(np.arctan2(y, x), np.linspace(-1, 1, 6)[column], atol=1e-6)
    np.testing.assert_allclose(
        np.arctan2(z, np.hypot(x, y)), np.linspace(-0.2, 0.4, 4)[ring], atol=1e-6
    )


def test_the_bridge_publishes_them_in_the_frame_of_the_lidar(bundled):
    _, _, listener = bundled({'model': WORLD})
    cloud = listener.wait_for(PointCloud2, '/points')
    points = read(cloud)
    assert points.shape == (5, 61) and cloud.header.frame_id == 'top'
    # Every ray meets the wall 3 m ahead, a white one.
    np.testing.assert_allclose(points['x'], 3.0, atol=0.01)
    middle = points[2, 30]
    assert abs(middle['y']) < 1e-6 and middle['intensity'] > 250
    edge = math.cos(0.3) * math.cos(0.2)
    assert points[0, 0]['intensity'] == pytest.approx(255 * edge, abs=1.0)
    frames = listener.wait_for(TFMessage, '/tf_static', qos=LATCHED)
    (top,) = [item for item in frames.transforms if item.child_frame_id == 'top']
    assert top.transform.translation.z == pytest.approx(0.9)
