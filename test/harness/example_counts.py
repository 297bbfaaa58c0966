# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How many examples a law is tried on: some of them always, and all of them with --long."""

import os

LONG = 'URLAB_TEST_LONG'


def examples(count):
    """Return so many with --long, a quarter of them without it, and 15 at least."""
    return count if os.environ.get(LONG) else max(15, count // 4)
