# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Running worlds, one at a time; helpers of this folder become importable."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from worlds import WORLDS


@pytest.fixture(scope='package', params=WORLDS)
def running(request):
    """Return a running world."""
    from running_world import RunningWorld

    world = RunningWorld(request.param)
    yield world
    world.close()
