# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Running worlds, one at a time; helpers of this folder and of test/ros become importable."""

import os
from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'ros'))
sys.path.insert(0, str(Path(__file__).parent))

from worlds import WORLDS


@pytest.fixture(scope='session', autouse=True)
def _quiet_ros(tmp_path_factory):
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_LOG_DIR', str(tmp_path_factory.mktemp('ros_log')))


@pytest.fixture(scope='package', params=WORLDS)
def running(request):
    """Return a running world."""
    from running_world import RunningWorld

    world = RunningWorld(request.param)
    yield world
    world.close()
