# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains of our own tests: each is taken until the fixture or the test that asks ends."""

import contextlib

from urlab_ros_bridge.testing.domains import take_domain

# Blocks that are open, the innermost last: what was taken in each.
_blocks = [[]]


def free_domain():
    """Return a ROS domain that nobody else uses until the fixture or the test that asks ends."""
    domain = take_domain()
    _blocks[-1].append(domain)
    return domain.number


@contextlib.contextmanager
def kept():
    """Yield a function that gives back what was taken in this block and in none inside it."""
    taken = []

    def give_back():
        while taken:
            taken.pop().close()

    _blocks.append(taken)
    try:
        yield give_back
    finally:
        _blocks.remove(taken)
