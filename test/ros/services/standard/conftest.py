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
