# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Running worlds, one at a time."""

from pathlib import Path

import pytest

import urlab_ros_bridge.models

# Each needs files of its own for RViz and Foxglove.
WORLDS = sorted(path.stem for path in Path(urlab_ros_bridge.models.__file__).parent.glob('*.yaml'))


@pytest.fixture(scope='package', params=WORLDS)
def lasting_world(request):
    from test.config.running_world import RunningWorld

    world = RunningWorld(request.param)
    yield world
    world.close()


@pytest.fixture
def running(lasting_world):
    """Return a running world; between the tests it is paused, and costs nothing."""
    lasting_world.set_paused(False)
    yield lasting_world
    lasting_world.set_paused(True)
