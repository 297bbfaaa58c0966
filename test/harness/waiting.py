# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions, never for time."""

import time


def wait_until(condition, why='it did not happen', seconds=60.0):
    """Return the first true value of a condition; a busy machine takes long."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, why
        time.sleep(0.005)
    return found
