# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest
from sensor_msgs.msg import NavSatFix

from urlab_ros_bridge.ros.messages.nav_sat_fix import GeodeticOrigin
from urlab_ros_bridge.ros.messages.nav_sat_fix import TangentPlane

ORIGIN = (48.137, 11.575, 520.0)


def test_the_fix_is_the_position_of_the_base(small_server, bridged):
    server = small_server()
    _, listener = bridged(server, gps_origin=list(ORIGIN))
    with server.lock:
        server.data.qpos[:2] = 30.0, -40.0
    plane = TangentPlane(GeodeticOrigin(*ORIGIN))
    wanted = plane.place(30.0, -40.0, 0.0)

    def there(fix):
        return abs(fix.latitude - wanted.latitude) < 1e-6

    fix = listener.wait_for(NavSatFix, '/gps/fix', there)
    assert fix.longitude == pytest.approx(wanted.longitude, abs=1e-6)
    assert fix.header.frame_id == 'base_link'
    assert fix.position_covariance[0] == pytest.approx(0.25)  # the server tells 0.5 m
