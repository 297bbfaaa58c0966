# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains of our own tests: each is taken until the fixture or the test that asks ends."""

from borrowed import borrow

from urlab_ros_bridge.testing.domains import take_domain


def free_domain():
    """Return a ROS domain that is reserved until the calling fixture or test ends."""
    return borrow(take_domain()).number
