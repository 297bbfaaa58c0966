# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Distances: LaserScan and Range (REP-117), and points of 3-D lidars as PointCloud2.

MuJoCo and the wire say -1 where a ray hits nothing; ROS says +Inf for nothing within range, -Inf
for something too close, and NaN for a measurement that went wrong.  Points have the fields that
drivers of such lidars publish.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from sensor_msgs.msg import LaserScan
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from sensor_msgs.msg import Range
from std_msgs.msg import Header

from urlab_ros_bridge.client.replies.handshake import PointLidar
from urlab_ros_bridge.geometry import ray_directions
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import NumbersTemplate
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.cdr.blob import BlobTemplate
from urlab_ros_bridge.ros.messages.errors import BadScan
from urlab_ros_bridge.ros.messages.errors import WrongLength

_MAX_RAYS = 1 << 20
_FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class ScanGeometry:
    """
    A planar scanner: `rays` beams from angle_min to angle_max, both included.

    Angles in rad counter-clockwise about the z axis of the sensor frame, 0 along its x axis;
    ranges in m; `scan_time` in s between two scans.  All beams of a scan are of one instant.

    :raises BadScan: when consumers could not find the number of rays again from the angles.
    """

    angle_min: float
    angle_max: float
    rays: int
    range_min: float
    range_max: float
    scan_time: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.rays <= _MAX_RAYS:
            raise BadScan(f'{self.rays} rays, must be 1 to {_MAX_RAYS}')
        if not all(map(math.isfinite, (self.angle_min, self.angle_max, self.scan_time))):
            raise BadScan('angles and scan time must be finite')
        if not 0 <= self.range_min < self.range_max:
            raise BadScan(
                f'ranges from {self.range_min} to {self.range_max} m, must be '
                '0 <= range_min < range_max'
            )
        angles = (self.angle_min, self.angle_max, self.angle_increment)
        low, high, step = np.array(angles, np.float32)
        if self.rays > 1 and (step == 0 or round(float((high - low) / step)) + 1 != self.rays):
            raise BadScan(f'{self.rays} rays from {self.angle_min} to {self.angle_max} rad')

    @property
    def angle_increment(self) -> float:
        """Angle between two beams (rad); negative for a scanner that turns clockwise."""
        return (self.angle_max - self.angle_min) / (self.rays - 1) if self.rays > 1 else 0.0


def to_ranges(distances: Values, range_min: float, range_max: float, out: np.ndarray) -> None:
    """
    Turn distances of MuJoCo into those of REP-117.

    :param distances: shape (n,), m; negative: nothing was hit.
    :param out: shape (n,), float32, is filled; measured values are not changed.
    """
    if isinstance(distances, np.ndarray) and distances.dtype == np.float32:
        out[...] = distances
    else:
        # What is too large for float32 becomes infinite, as it should.
        with np.errstate(over='ignore'):
            out[...] = distances
    far = out > np.float32(range_max)
    far |= out < 0
    np.putmask(out, out < np.float32(range_min), -np.inf)
    np.putmask(out, far, np.inf)


class LaserScanTemplate(RosMessageTemplate):
    """sensor_msgs/LaserScan of one scanner."""

    def __init__(self, frame_id: str, geometry: ScanGeometry) -> None:
        self._geometry = geometry
        super().__init__(
            LaserScan(
                header=Header(frame_id=frame_id),
                angle_min=float(geometry.angle_min),
                angle_max=float(geometry.angle_max),
                angle_increment=float(geometry.angle_increment),
                scan_time=float(geometry.scan_time),
                range_min=float(geometry.range_min),
                range_max=float(geometry.range_max),
                ranges=[0.0] * geometry.rays,
            )
        )
        self._ranges = self._template.array('ranges')

    def update(self, stamp_ns: int, distances: Values) -> bytes:
        """
        Return the serialised message.

        :param distances: shape (rays,), m; negative: nothing was hit.
        :raises WrongLength: when they are not one for each ray.
        """
        geometry = self._geometry
        if len(distances) != geometry.rays:
            raise WrongLength(geometry.rays, len(distances))
        to_ranges(distances, geometry.range_min, geometry.range_max, self._ranges)
        return self._stamped(stamp_ns)


def as_float32(value: float) -> float:
    """Round as the message does, so that readers compare with the same limits."""
    return float(np.float32(value))


def to_range(distance: float, min_range: float, max_range: float) -> float:
    """
    Turn one distance (m) into that of REP-117; the limits are inclusive.

    >>> to_range(-1.0, 0.1, 10.0)
    inf
    """
    if distance < 0 or distance > min(max_range, _FLOAT32_MAX):
        return math.inf
    return -math.inf if distance < min_range else distance


class RangeTemplate(NumbersTemplate):
    """
    sensor_msgs/Range of one rangefinder, a single ray along the x axis of its frame.

    Update it with the distance, shape (1,), in m; negative: nothing was hit.
    """

    def __init__(
        self,
        frame_id: str,
        field_of_view: float = 0.0,
        min_range: float = 0.0,
        max_range: float = math.inf,
    ) -> None:
        """
        Fix the limits.

        :param field_of_view: rad; 0 for a ray without width.
        """
        low, high = as_float32(min_range), as_float32(max_range)
        sample = Range(
            header=Header(frame_id=frame_id),
            radiation_type=Range.INFRARED,
            field_of_view=float(field_of_view),
            min_range=low,
            max_range=high,
        )
        super().__init__(
            sample, 'range', lambda distance: [to_range(floats(distance, 1)[0], low, high)]
        )


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
