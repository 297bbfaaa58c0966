# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Places of files for the tests of client models."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_places import Places


@pytest.fixture
def places(tmp_path):
    """Return a data folder with things outside of it."""
    return Places(tmp_path)


@pytest.fixture(scope='module')
def fixed_places(tmp_path_factory):
    """Return places that all examples of a module share."""
    return Places(tmp_path_factory.mktemp('places'))
