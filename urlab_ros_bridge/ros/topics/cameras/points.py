# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images as organised point clouds, in the optical frame (REP-103: z forward, y down)."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.cdr.blob import BlobTemplate
from urlab_ros_bridge.ros.topics.cameras.info import Intrinsics

_POINT = 16  # bytes: x, y, z, and the colour or nothing


class PointsTemplate:
    """
    sensor_msgs/PointCloud2 with a row of points for each row of pixels.

    Points that nothing was seen at are NaN.  With colour there is a field `rgb` as PCL packs it.
    """

    def __init__(
        self, frame_id: str, camera: Intrinsics, metres: float, every: int, colored: bool
    ) -> None:
        """
        Prepare the message.

        :param metres: the unit of the depth in metres.
        :param every: of the rows and columns only each such one becomes points.
        :raises CdrError: when the middleware serialises in another way than expected.
        """
        columns, rows = np.arange(0, camera.width, every), np.arange(0, camera.height, every)
        self._every, self._colored = every, colored
        self._x = ((columns - camera.cx) / camera.fx * metres).astype(np.float32)[None, :]
        self._y = ((rows - camera.cy) / camera.fy * metres).astype(np.float32)[:, None]
        self._metres = np.float32(metres)
        self._shape = (len(rows), len(columns), 4)
        self.size = len(rows) * len(columns) * _POINT
        names = ('x', 'y', 'z', 'rgb') if colored else ('x', 'y', 'z')
        self._template = BlobTemplate(
            PointCloud2(
                header=Header(frame_id=frame_id),
                height=len(rows),
                width=len(columns),
                fields=[
                    PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
                    for i, name in enumerate(names)
                ],
                is_bigendian=False,
                point_step=_POINT,
                row_step=len(columns) * _POINT,
                is_dense=False,
            )
        )

    def update(self, stamp_ns: int, depth: np.ndarray, color: np.ndarray | None = None) -> bytes:
        """
        Return the serialised message.

        :param depth: (height, width) float32, 0 where nothing is seen.
        :param color: (height, width, 4) uint8 BGRA of the same view, when the cloud has colour.
        """
        message, data = self._template.begin(stamp_ns, self.size)
        points = data.view('<f4').reshape(self._shape)
        depth = depth[:: self._every, :: self._every]
        depth = np.where(depth > 0.0, depth, np.float32(np.nan))
        np.multiply(depth, self._x, out=points[..., 0])
        np.multiply(depth, self._y, out=points[..., 1])
        np.multiply(depth, self._metres, out=points[..., 2])
        packed = data.view('<u4').reshape(self._shape)[..., 3]
        if self._colored and color is not None:
            # BGRA read as a little-endian word is 0xAARRGGBB, which is how PCL packs a colour.
            packed[...] = color.view('<u4')[:: self._every, :: self._every, 0]
        else:
            packed[...] = 0
        return message
