# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs on free ports and a ROS domain of their own."""

import contextlib
from functools import partial
from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from simulations import ServerProgram
from simulations import start_simulation


@pytest.fixture(scope='module')
def keep_all():
    """Return what `keep` does, for all tests of a module."""
    with contextlib.ExitStack() as things:

        def kept(thing):
            things.callback(thing.close if hasattr(thing, 'close') else thing.stop)
            return thing

        yield kept


@pytest.fixture
def simulation(keep):
    """Return a function: words of the server, parameters -> (server, bridge, listener)."""
    return partial(start_simulation, keep)


@pytest.fixture(scope='module')
def lasting_simulation(keep_all):
    """Return `simulation` for all tests of a module, which leave it as they found it."""
    return partial(start_simulation, keep_all)


@pytest.fixture(scope='module')
def lasting_server(keep_all):
    """Return a function that starts a server for all tests of a module."""
    return lambda *words: keep_all(ServerProgram(*words))
