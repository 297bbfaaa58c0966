# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""sensor_msgs/NavSatFix: where on earth a robot is."""

from __future__ import annotations

from collections.abc import Sequence

from sensor_msgs.msg import NavSatFix
from sensor_msgs.msg import NavSatStatus
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.covariance import diagonal
from urlab_ros_bridge.ros.messages.geodesy import GeodeticOrigin
from urlab_ros_bridge.ros.messages.geodesy import TangentPlane


class NavSatFixTemplate(RosMessageTemplate):
    """sensor_msgs/NavSatFix of one robot."""

    def __init__(
        self, frame_id: str, origin: GeodeticOrigin, stddevs: Sequence[float] | None
    ) -> None:
        """
        Fix the origin of the world.

        :param stddevs: to the east, to the north and up, m; None when unknown.
        """
        super().__init__(
            NavSatFix(
                header=Header(frame_id=frame_id),
                status=NavSatStatus(
                    status=NavSatStatus.STATUS_FIX, service=NavSatStatus.SERVICE_GPS
                ),
                position_covariance=[0.0] * 9 if stddevs is None else diagonal(stddevs[:3]),
                position_covariance_type=NavSatFix.COVARIANCE_TYPE_UNKNOWN
                if stddevs is None
                else NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN,
            )
        )
        self._plane = TangentPlane(origin)
        writer = self._template.writer
        self._writers = [writer(name) for name in ('latitude', 'longitude', 'altitude')]

    def update(self, stamp_ns: int, position: Values) -> bytes:
        """
        Return the serialised message.

        :param position: shape (3,), m in the frame of the world.
        """
        place = self._plane.place(*floats(position, 3))
        write_latitude, write_longitude, write_altitude = self._writers
        write_latitude(place.latitude)
        write_longitude(place.longitude)
        write_altitude(place.altitude)
        return self._stamped(stamp_ns)
