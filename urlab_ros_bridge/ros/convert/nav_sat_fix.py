# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""sensor_msgs/NavSatFix: where on earth a robot is."""

from __future__ import annotations

from collections.abc import Sequence

from sensor_msgs.msg import NavSatFix
from sensor_msgs.msg import NavSatStatus

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import Values
from urlab_ros_bridge.ros.convert.covariance import diagonal
from urlab_ros_bridge.ros.convert.frames import floats
from urlab_ros_bridge.ros.convert.geodesy import Place
from urlab_ros_bridge.ros.convert.geodesy import TangentPlane
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def nav_sat_fix_to_ros(
    stamp_ns: int, frame_id: str, place: Place, stddevs: Sequence[float] | None
) -> NavSatFix:
    """
    Return a fix.

    :param frame_id: frame of what is at the place.
    :param stddevs: to the east, to the north and up, m; None when unknown.
    """
    known = stddevs is not None
    kind = NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN if known else NavSatFix.COVARIANCE_TYPE_UNKNOWN
    return NavSatFix(
        header=header_to_ros(stamp_ns, frame_id),
        status=NavSatStatus(status=NavSatStatus.STATUS_FIX, service=NavSatStatus.SERVICE_GPS),
        latitude=place.latitude,
        longitude=place.longitude,
        altitude=place.altitude,
        position_covariance=diagonal(stddevs[:3]) if stddevs is not None else [0.0] * 9,
        position_covariance_type=kind,
    )


class NavSatFixTemplate(MessageTemplate):
    """sensor_msgs/NavSatFix of one robot; fed with points of the world."""

    def __init__(self, frame_id: str, origin: Place, stddevs: Sequence[float] | None) -> None:
        self._frame_id, self._stddevs = frame_id, stddevs
        self._plane = TangentPlane(origin)
        super().__init__(nav_sat_fix_to_ros(0, frame_id, origin, stddevs))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._latitude = template.writer('latitude')
        self._longitude = template.writer('longitude')
        self._altitude = template.writer('altitude')

    def message(self, stamp_ns: int, position: Values) -> NavSatFix:
        place = self._plane.place(*floats(position, 3))
        return nav_sat_fix_to_ros(stamp_ns, self._frame_id, place, self._stddevs)

    def update(self, stamp_ns: int, position: Values) -> bytes:
        """
        Return the serialised message.

        :param position: shape (3,), m in the frame of the world.
        """
        place = self._plane.place(*floats(position, 3))
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._latitude(place.latitude)
        self._longitude(place.longitude)
        self._altitude(place.altitude)
        return self._to_bytes()
