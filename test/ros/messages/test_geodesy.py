# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.messages.geodesy import from_earth
from urlab_ros_bridge.ros.messages.geodesy import GeodeticOrigin
from urlab_ros_bridge.ros.messages.geodesy import TangentPlane
from urlab_ros_bridge.ros.messages.geodesy import to_earth

places = st.builds(
    GeodeticOrigin, st.floats(-89.9, 89.9), st.floats(-179.9, 179.9), st.floats(-400.0, 9000.0)
)
metres = st.floats(-2000.0, 2000.0)


@given(places)
def test_conversion_to_earth_and_back_is_the_identity(place):
    again = from_earth(*to_earth(place))
    assert again.latitude == pytest.approx(place.latitude, abs=1e-12 + 1e-13 * 180)
    assert again.longitude == pytest.approx(place.longitude, abs=1e-11)
    assert again.altitude == pytest.approx(place.altitude, abs=1e-6)


@given(places, metres, metres, st.floats(-100.0, 100.0))
def test_distances_are_those_of_the_world(origin, east, north, up):
    plane = TangentPlane(origin)
    here, there = to_earth(origin), to_earth(plane.place(east, north, up))
    assert math.dist(here, there) == pytest.approx(math.hypot(east, north, up), abs=1e-5)
