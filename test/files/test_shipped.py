# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Files beside the code are found in the source tree, in a ROS prefix and in a Python prefix."""

from pathlib import Path
import sys

from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.files.folders import shipped_names

ROOT = Path(__file__).resolve().parents[2]


def installed(prefix, *names):
    folder = prefix / 'share' / 'urlab_ros_bridge' / 'config' / 'elsewhere'
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_a_ros_prefix_and_then_the_python_prefix(tmp_path, monkeypatch):
    ros = installed(tmp_path / 'ros', 'b.yaml', 'a.yaml', 'c.txt')
    python = installed(tmp_path / 'python', 'd.yaml')
    monkeypatch.setattr(sys, 'prefix', str(tmp_path / 'python'))
    environ = {'AMENT_PREFIX_PATH': f'{tmp_path}/nothing:{tmp_path}/ros'}
    assert shipped_file('config/elsewhere/a.yaml', environ) == ros / 'a.yaml'
    assert shipped_file('config/elsewhere/d.yaml', environ) == python / 'd.yaml'
    assert shipped_names('config/elsewhere', '.yaml', environ) == ['a', 'b']
    assert shipped_names('config/elsewhere', '.yaml', {}) == ['d']


def test_a_missing_file_has_its_path_in_the_source_tree():
    assert shipped_file('config/nothing.yaml', {}) == ROOT / 'config' / 'nothing.yaml'
    assert shipped_names('config/nothing', '.yaml', {}) == []
