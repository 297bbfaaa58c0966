# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Distances: LaserScan and Range (REP-117).

MuJoCo and the wire say -1 where a ray hits nothing; ROS says +Inf for nothing within range, -Inf
for something too close, and NaN for a measurement that went wrong.
"""

from __future__ import annotations

import array
from dataclasses import dataclass
import math

import numpy as np
from sensor_msgs.msg import LaserScan
from sensor_msgs.msg import Range

from urlab_ros_bridge.ros.messages.base import BadScan
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.stamp import NANOSECONDS

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


def laser_scan_to_ros(
    stamp_ns: int, frame_id: str, geometry: ScanGeometry, distances: Values
) -> LaserScan:
    """
    Return a scan.

    :param distances: shape (rays,), m; negative: nothing was hit.
    :raises WrongLength: when they are not one for each ray.
    """
    if len(distances) != geometry.rays:
        raise WrongLength(geometry.rays, len(distances))
    ranges = np.empty(geometry.rays, np.float32)
    to_ranges(distances, geometry.range_min, geometry.range_max, ranges)
    return LaserScan(
        header=header_to_ros(stamp_ns, frame_id),
        angle_min=float(geometry.angle_min),
        angle_max=float(geometry.angle_max),
        angle_increment=float(geometry.angle_increment),
        time_increment=0.0,
        scan_time=float(geometry.scan_time),
        range_min=float(geometry.range_min),
        range_max=float(geometry.range_max),
        ranges=array.array('f', ranges.tobytes()),
    )


class LaserScanTemplate(RosMessageTemplate):
    """sensor_msgs/LaserScan of one scanner."""

    def __init__(self, frame_id: str, geometry: ScanGeometry) -> None:
        self._frame_id = frame_id
        self._geometry = geometry
        super().__init__(self.message(0, np.zeros(geometry.rays, np.float32)))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._ranges = template.array('ranges')

    def message(self, stamp_ns: int, distances: Values) -> LaserScan:
        return laser_scan_to_ros(stamp_ns, self._frame_id, self._geometry, distances)

    def update(self, stamp_ns: int, distances: Values) -> bytes:
        geometry = self._geometry
        if len(distances) != geometry.rays:
            raise WrongLength(geometry.rays, len(distances))
        to_ranges(distances, geometry.range_min, geometry.range_max, self._ranges)
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        return self._to_bytes()


def as_float32(value: float) -> float:
    """Round as the message does, so that a reader's comparison comes out like ours."""
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


def range_to_ros(
    stamp_ns: int,
    frame_id: str,
    distance: float,
    field_of_view: float = 0.0,
    min_range: float = 0.0,
    max_range: float = math.inf,
) -> Range:
    """
    Return the distance that a single ray along the x axis of `frame_id` measures.

    :param distance: m; negative: nothing was hit.
    :param field_of_view: rad; 0 for a ray without width.
    """
    low, high = as_float32(min_range), as_float32(max_range)
    return Range(
        header=header_to_ros(stamp_ns, frame_id),
        radiation_type=Range.INFRARED,
        field_of_view=float(field_of_view),
        min_range=low,
        max_range=high,
        range=to_range(float(distance), low, high),
    )


class RangeTemplate(RosMessageTemplate):
    """sensor_msgs/Range of one rangefinder."""

    def __init__(
        self,
        frame_id: str,
        field_of_view: float = 0.0,
        min_range: float = 0.0,
        max_range: float = math.inf,
    ) -> None:
        self._frame_id = frame_id
        self._static = (field_of_view, as_float32(min_range), as_float32(max_range))
        super().__init__(self.message(0, (0.0,)))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._range = template.writer('range')

    def message(self, stamp_ns: int, distance: Values) -> Range:
        return range_to_ros(stamp_ns, self._frame_id, floats(distance, 1)[0], *self._static)

    def update(self, stamp_ns: int, distance: Values) -> bytes:
        """
        Serialise.

        :param distance: shape (1,), m; negative: nothing was hit.
        """
        (value,) = floats(distance, 1)
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._range(to_range(value, *self._static[1:]))
        return self._to_bytes()
