# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest

from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

pytestmark = [pytest.mark.ros, pytest.mark.distro]


def test_a_missing_package_says_what_to_do():
    with pytest.raises(InterfaceMissing, match=r'no_such_msgs/msg/Thing.*install') as info:
        load_interface('no_such_msgs/msg/Thing')
    assert isinstance(info.value, ImportError)
    assert find_interface('no_such_msgs/msg/Thing') is None
