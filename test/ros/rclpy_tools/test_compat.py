# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest
from std_msgs.msg import Header

from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.wire.errors import UnknownName

pytestmark = [pytest.mark.ros, pytest.mark.distro]


def test_an_installed_interface_is_imported():
    assert load_interface('std_msgs/msg/Header') is Header
    assert find_interface('std_msgs/msg/Header') is Header


def test_a_missing_package_says_what_to_do():
    with pytest.raises(InterfaceMissing, match=r'no_such_msgs/msg/Thing.*install') as info:
        load_interface('no_such_msgs/msg/Thing')
    assert isinstance(info.value, ImportError)
    assert find_interface('no_such_msgs/msg/Thing') is None


@pytest.mark.parametrize('package', ['tf2_msgs', 'urlab_msgs'])
def test_what_the_wheels_lack_is_explained(package, monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, f'{package}.msg', None)
    with pytest.raises(InterfaceMissing, match='make setup'):
        load_interface(f'{package}/msg/Anything')


def test_a_wrong_type_lists_the_right_ones():
    with pytest.raises(UnknownName, match=r"'Headr'.*Header"):
        load_interface('std_msgs/msg/Headr')
