# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import shutil

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


def test_the_first_folder_with_a_package_is_used(tmp_path):
    """Of all places, then of all but the first, and so on."""
    folders = {place: installed(tmp_path, place) for place in PLACES}
    start = tmp_path / 'work' / 'checkout' / 'urdf'
    environ = {
        'AMENT_PREFIX_PATH': f'/nowhere:{tmp_path / "ament"}',
        'ROS_PACKAGE_PATH': f'/nowhere:{tmp_path / "ros"}',
    }
    given = {'bot': folders['given']}
    for folder in folders.values():
        packages = Packages(start, given, environ)
        for name in ('package://bot/meshes/a b.stl', 'package:///bot/meshes/a%20b.stl'):
            assert packages.file(name) == folder / 'meshes/a b.stl'
        shutil.rmtree(folder.parent)
    with pytest.raises(PackageNotFound, match='bot'):
        Packages(start, given, environ).file('package://bot/m.stl')
