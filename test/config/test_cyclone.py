# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Participants on Cyclone DDS hear the bridge, and drive its robot, with the shipped file."""

from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys

from lifelines import run_process
import pytest

CONFIG = Path(__file__).parents[2] / 'config' / 'cyclonedds.xml'
NODE = Path(__file__).with_name('cyclone_node.py')

pytestmark = [
    pytest.mark.skipif(not find_spec('cyclonedds'), reason='cyclonedds is not installed'),
    pytest.mark.skipif(
        os.environ.get('ROS_DISTRO', 'jazzy') != 'jazzy',
        reason='the Python package of Cyclone DDS cannot read the types of newer Fast DDS',
    ),
    pytest.mark.skipif(
        os.environ.get('RMW_IMPLEMENTATION', 'rmw_fastrtps_cpp') != 'rmw_fastrtps_cpp',
        reason='the bridge is not on Fast DDS',
    ),
]


def test_with_the_file_both_directions_work(running):
    if running.name != 'rover':
        pytest.skip('the participant drives a rover')
    result = run_process(
        [sys.executable, NODE, running.listener.context.get_domain_id(), 60],
        env={**os.environ, 'CYCLONEDDS_URI': CONFIG.as_uri()},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    assert result.stdout.strip() == 'a rover drives'
