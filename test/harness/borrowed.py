# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What tests borrow (ROS domains, ports) until the fixture or the test that asks ends."""

import contextlib

# Blocks that are open, the innermost last: what was borrowed in each.
_blocks = [[]]


def borrow(loan):
    """Close what is borrowed when the fixture or the test that asks ends; return it."""
    _blocks[-1].append(loan)
    return loan


@contextlib.contextmanager
def borrowing():
    """Yield a function that gives back what was borrowed in this block and in none inside it."""
    loans = []

    def give_back():
        while loans:
            loans.pop().close()

    _blocks.append(loans)
    try:
        yield give_back
    finally:
        _blocks.remove(loans)
