# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from itertools import product

import pytest

from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.packages import Packages

PLACES = ('given', 'ament', 'ros', 'above')


def installed(tmp_path, place):
    """Put a package `bot` where one of the places finds it, and return its folder."""
    folder = tmp_path / place / ('share/bot' if place == 'ament' else 'bot')
    if place == 'above':
        folder = tmp_path / 'work' / 'checkout'  # another name than that of the package
    folder.mkdir(parents=True)
    (folder / 'package.xml').write_text('<package><name>bot</name></package>')
    if place == 'ament':
        marker = tmp_path / place / 'share/ament_index/resource_index/packages/bot'
        marker.parent.mkdir(parents=True)
        marker.touch()
    return folder


@pytest.mark.parametrize('there', [t for t in product((True, False), repeat=4) if any(t)])
def test_the_first_folder_with_a_package_is_used(tmp_path, there):
    chosen = [place for place, is_there in zip(PLACES, there, strict=True) if is_there]
    folders = {place: installed(tmp_path, place) for place in chosen}
    start = tmp_path / 'work' / 'checkout' / 'urdf'
    given = {'bot': folders['given']} if 'given' in chosen else {}
    environ = {
        'AMENT_PREFIX_PATH': f'/nowhere:{tmp_path / "ament"}',
        'ROS_PACKAGE_PATH': f'/nowhere:{tmp_path / "ros"}',
    }
    packages = Packages(start, given, environ)
    expected = folders[chosen[0]] / 'meshes/a b.stl'
    for name in ('package://bot/meshes/a b.stl', 'package:///bot/meshes/a%20b.stl'):
        assert packages.file(name) == expected


def test_a_missing_package_is_named_with_the_places(tmp_path):
    with pytest.raises(PackageNotFound, match=r"'bot'.*/opt/ros/x.*--package-path bot=DIR"):
        Packages(tmp_path, {}, {'AMENT_PREFIX_PATH': '/opt/ros/x'}).file('package://bot/m.stl')
