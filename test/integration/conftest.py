# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs on free ports and a ROS domain of their own."""

from functools import partial
from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def simulation(keep):
    """Return a function: server, parameters of its bridge -> server, bridge, listener."""
    from simulations import start_simulation

    return partial(start_simulation, keep)


@pytest.fixture(scope='module')
def lasting_simulation(keep_all):
    """Return `simulation` for all tests of a module, which leave it as they found it."""
    from simulations import start_simulation

    return partial(start_simulation, keep_all)
