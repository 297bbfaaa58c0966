# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A yard with a robot, things that move and things that do not, its server and its bridge."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope='package')
def yard(tmp_path_factory):
    """Return the yard: a server in this process, a bridge to it, and a caller of services."""
    from yard import Yard

    opened = Yard(tmp_path_factory.mktemp('yard'))
    yield opened
    opened.close()


@pytest.fixture
def anew(yard):
    """Remove what a test spawned before the next one."""
    yield
    yard.well('reset_simulation', scope=4)  # SCOPE_SPAWNED
    assert not [entity for entity in yard.client.get_entities().values() if entity.spawned]
    assert not list(yard.folder.glob('spawned_*'))
