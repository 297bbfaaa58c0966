# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Security enclaves: what docs/howto/remote_machine.md says of the ROS in the wheels."""

import os
from pathlib import Path
import subprocess
import sys

from lifelines import run_process
import pytest

PAGE = Path(__file__).parents[2] / 'docs' / 'howto' / 'remote_machine.md'
ERROR = "This Fast DDS version doesn't have the security libraries"
NODE = """
import rclpy
rclpy.init(args=['--ros-args', '--enclave', '/urlab/bridge'])
rclpy.create_node('inside')
"""


@pytest.mark.ros
@pytest.mark.distro
def test_the_wheels_refuse_an_enclave_and_start_nothing_in_the_clear(tmp_path):
    (tmp_path / 'keystore' / 'enclaves' / 'urlab' / 'bridge').mkdir(parents=True)
    environment = {
        **os.environ,
        'ROS_SECURITY_KEYSTORE': str(tmp_path / 'keystore'),
        'ROS_SECURITY_ENABLE': 'true',
        'ROS_SECURITY_STRATEGY': 'Enforce',
    }
    done = run_process(
        [sys.executable, '-c', NODE], env=environment, text=True, timeout=100,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode != 0 and ERROR in done.stdout, done.stdout
    assert ERROR in ' '.join(
        PAGE.read_text().split()
    )  # when the wheels can do it one day, the page says so
