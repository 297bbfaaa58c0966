# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Points of 3-D lidars as PointCloud2, with the fields that drivers of such lidars publish."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from std_msgs.msg import Header

from urlab_ros_bridge.client.replies.handshake import PointLidar
from urlab_ros_bridge.geometry import ray_directions
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.cdr.blob import BlobTemplate

_FIELDS = {
    'x': ('<f4', PointField.FLOAT32),
    'y': ('<f4', PointField.FLOAT32),
    'z': ('<f4', PointField.FLOAT32),
    'intensity': ('<f4', PointField.FLOAT32),
    'ring': ('<u2', PointField.UINT16),
    'time': ('<f4', PointField.FLOAT32),
}
POINT = np.dtype([(name, kind) for name, (kind, _) in _FIELDS.items()])
_OFFSETS = (0, 4, 8, 12, 16, 18)


class LidarPointsTemplate:
    """
    sensor_msgs/PointCloud2 of one lidar: a row for each ring, the lowest first.

    Points are in the frame of the lidar, NaN where nothing was met.  Their `time`, in s after the
    stamp, is 0: all rays are cast at the same instant.
    """

    def __init__(self, frame_id: str, lidar: PointLidar) -> None:
        """
        Prepare the message.

        :raises CdrError: when the middleware serialises in another way than expected.
        """
        self._shape = (lidar.rings, lidar.columns)
        self._range_min, self._range_max = lidar.range_min, lidar.range_max
        azimuths = np.linspace(lidar.angle_min, lidar.angle_max, lidar.columns)
        elevations = np.linspace(lidar.elevation_min, lidar.elevation_max, lidar.rings)
        directions = ray_directions(azimuths, elevations).astype(np.float32)
        self._x, self._y, self._z = np.ascontiguousarray(np.moveaxis(directions, -1, 0))
        self._blank = np.zeros(self._shape, POINT)
        self._blank['ring'] = np.arange(lidar.rings)[:, None]
        self._template = BlobTemplate(
            PointCloud2(
                header=Header(frame_id=frame_id),
                height=lidar.rings,
                width=lidar.columns,
                fields=[
                    PointField(name=name, offset=offset, datatype=kind, count=1)
                    for offset, (name, (_, kind)) in zip(_OFFSETS, _FIELDS.items(), strict=True)
                ],
                is_bigendian=False,
                point_step=POINT.itemsize,
                row_step=lidar.columns * POINT.itemsize,
                is_dense=False,
            )
        )
        self.message_type = self._template.message_type

    def update(self, stamp_ns: int, ranges: np.ndarray, intensities: np.ndarray) -> bytes:
        """
        Return the serialised message.

        :param ranges: m, negative: nothing was met; shape (rings, columns), as `intensities`.
        :raises WrongLength: for another shape.
        """
        if ranges.shape != self._shape:
            raise WrongLength(self._blank.size, ranges.size)
        message, data = self._template.begin(stamp_ns, self._blank.nbytes)
        points = data.view(POINT).reshape(self._shape)
        points[...] = self._blank
        met = (ranges >= self._range_min) & (ranges <= self._range_max)
        ranges = np.where(met, ranges, np.float32(np.nan))
        for name, direction in (('x', self._x), ('y', self._y), ('z', self._z)):
            np.multiply(ranges, direction, out=points[name])
        points['intensity'] = intensities
        return message
