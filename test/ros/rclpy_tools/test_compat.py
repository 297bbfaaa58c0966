# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest

from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.wire.errors import UnknownName

pytestmark = [pytest.mark.ros, pytest.mark.distro]


def test_a_missing_package_and_a_wrong_type_are_told_apart():
    assert find_interface('no_such_msgs/msg/Thing') is None
    with pytest.raises(InterfaceMissing, match='no_such_msgs/msg/Thing'):
        load_interface('no_such_msgs/msg/Thing')
    with pytest.raises(UnknownName, match="'Headr'"):
        load_interface('std_msgs/msg/Headr')
