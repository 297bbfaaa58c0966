# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Places on earth (WGS 84), and the plane of a simulated world there."""

from __future__ import annotations

from dataclasses import dataclass
import math

# WGS 84: semi-major axis (m) and flattening.
A = 6378137.0
F = 1.0 / 298.257223563
E2 = F * (2.0 - F)
B = A * (1.0 - F)
_SECOND_E2 = E2 / (1.0 - E2)


@dataclass(frozen=True, slots=True)
class GeodeticOrigin:
    """A place: latitude and longitude in degrees, altitude above the ellipsoid in metres."""

    latitude: float
    longitude: float
    altitude: float


def to_earth(place: GeodeticOrigin) -> tuple[float, float, float]:
    """Return earth-centred, earth-fixed coordinates in metres."""
    latitude, longitude = math.radians(place.latitude), math.radians(place.longitude)
    radius = A / math.sqrt(1.0 - E2 * math.sin(latitude) ** 2)
    level = (radius + place.altitude) * math.cos(latitude)
    return (
        level * math.cos(longitude),
        level * math.sin(longitude),
        (radius * (1.0 - E2) + place.altitude) * math.sin(latitude),
    )


def from_earth(x: float, y: float, z: float) -> GeodeticOrigin:
    """
    Return the place of earth-centred, earth-fixed coordinates in metres.

    Bowring's formula: exact to a nanometre near the surface, which is as far as robots go.
    """
    level = math.hypot(x, y)
    reduced = math.atan2(z * A, level * B)
    latitude = math.atan2(
        z + _SECOND_E2 * B * math.sin(reduced) ** 3, level - E2 * A * math.cos(reduced) ** 3
    )
    sine, cosine = math.sin(latitude), math.cos(latitude)
    # Both terms together are well-behaved at the equator and at the poles.
    altitude = level * cosine + z * sine - A * math.sqrt(1.0 - E2 * sine**2)
    return GeodeticOrigin(math.degrees(latitude), math.degrees(math.atan2(y, x)), altitude)


class TangentPlane:
    """The world of a simulation on earth."""

    def __init__(self, origin: GeodeticOrigin) -> None:
        self._origin = to_earth(origin)
        latitude, longitude = math.radians(origin.latitude), math.radians(origin.longitude)
        sin_a, cos_a = math.sin(latitude), math.cos(latitude)
        sin_o, cos_o = math.sin(longitude), math.cos(longitude)
        # Rows: earth x, y, z; columns: east, north, up.
        self._turn = (
            (-sin_o, -sin_a * cos_o, cos_a * cos_o),
            (cos_o, -sin_a * sin_o, cos_a * sin_o),
            (0.0, cos_a, sin_a),
        )

    def place(self, east: float, north: float, up: float) -> GeodeticOrigin:
        """Return the place of a point of the world, in metres from its origin."""
        return from_earth(
            *(
                start + row[0] * east + row[1] * north + row[2] * up
                for start, row in zip(self._origin, self._turn, strict=True)
            )
        )
