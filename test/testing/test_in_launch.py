# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation under the real launch_testing, where it is installed."""

import importlib.util
import os
from pathlib import Path
import subprocess
import sys

from lifelines import run_process
import pytest


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


pytestmark = [
    pytest.mark.ros,
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed('launch_testing.actions'), reason='needs launch_testing'),
]

TEST = """
import pathlib
import time
import unittest

from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch_testing.actions import ReadyToTest
from launch_testing.ready_to_test_action_timeout import ready_to_test_action_timeout
from nav_msgs.msg import Odometry

from urlab_ros_bridge.testing import launch_simulation


@ready_to_test_action_timeout(120)
def generate_test_description():
    words = ['sh', '-c', 'echo $ROS_DOMAIN_ID > part && mv part domain']
    domain = ExecuteProcess(cmd=words, name='domain')
    simulation, actions = launch_simulation(
        'rover', bridge={'odom_rate': 0.0}, then=[domain, ReadyToTest()]
    )
    return LaunchDescription(actions), {'simulation': simulation}


class TestActive(unittest.TestCase):
    def test_messages_arrive_and_nodes_are_in_the_domain(self, simulation):
        assert simulation.wait_for_message(Odometry, 'odom', 10.0).child_frame_id
        assert simulation.client.handshake.world == 'rover'
        deadline = time.monotonic() + 60
        while not pathlib.Path('domain').exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert int(pathlib.Path('domain').read_text()) == simulation.domain
"""


def test_the_simulation_is_ready_before_the_tests_and_ends_after_them(tmp_path):
    file = tmp_path / 'driver.test.py'
    file.write_text(TEST, encoding='utf-8')
    done = run_process(
        [sys.executable, '-m', 'launch_testing.launch_test', str(file)],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': _places()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    assert 'Traceback' not in done.stdout, done.stdout


def _places():
    # Last, because the folder launch/ of this project would hide the package.
    given = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    root = str(Path(__file__).parents[2])
    return os.pathsep.join([*(place for place in given if place and place != root), root])
