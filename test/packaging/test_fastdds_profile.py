# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Fast DDS profile is consistent, and Fast DDS takes it."""

import os
from pathlib import Path
import sys

from domains import free_domain
from lifelines import run_process
import pytest

PROFILE = Path(__file__).resolve().parents[2] / 'config' / 'fastdds.xml'
DDS = '{http://www.eprosima.com}'
SEGMENT = 32 * 1024 * 1024

# Print the sizes of this process's shared memory segments while a node is up.
SEGMENTS = """
import os, re, rclpy
rclpy.init()
node = rclpy.create_node('profile_test')
for line in open('/proc/self/maps'):
    if '/dev/shm/fastrtps_' in line or '/dev/shm/fastdds_' in line:
        begin, end = line.split()[0].split('-')
        print(int(end, 16) - int(begin, 16))
node.destroy_node()
rclpy.shutdown()
"""


def segments(**variables: str) -> list[int]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith('FAST')
    }
    # A peer, a dead one too, would have its segment mapped here.
    environment |= {'ROS_DOMAIN_ID': str(free_domain())}
    environment |= {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'} | variables
    done = run_process(
        [sys.executable, '-c', SEGMENTS],
        env=environment, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert 'rror' not in done.stderr, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.mark.ros
@pytest.mark.distro
@pytest.mark.skipif(not os.access('/dev/shm', os.W_OK), reason='no shared memory here')
def test_fast_dds_makes_segments_of_that_size():
    # Fast DDS 2 (Jazzy) reads the old name only, Fast DDS 3 the new one.
    old = os.environ.get('ROS_DISTRO', 'jazzy') == 'jazzy'
    variable = f'{"FASTRTPS" if old else "FASTDDS"}_DEFAULT_PROFILES_FILE'
    assert max(segments()) < SEGMENT
    assert max(segments(**{variable: str(PROFILE)})) >= SEGMENT
