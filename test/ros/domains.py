# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
ROS domains for tests.

Test runs that go on side by side on one machine must not hear each other, and within a run a
domain is used again only when its former processes are long forgotten.  So each run holds a block
of domains, by a lock on a file that ends with the process.
"""

import fcntl
import functools
import itertools
import os
from pathlib import Path
import tempfile

# Domains above 101 would use ports that the system gives to others.
BLOCK = 33
BLOCKS = 3


@functools.cache
def _block():
    for number in range(BLOCKS):
        path = Path(tempfile.gettempdir()) / f'urlab-test-domains-{os.getuid()}-{number}'
        # Left open, and so locked, until the process ends.
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        else:
            return itertools.cycle(range(1 + number * BLOCK, 1 + (number + 1) * BLOCK))
    raise RuntimeError(f'{BLOCKS} test runs with ROS are going on: wait until one has ended')


def free_domain():
    """Return a ROS domain that nobody else uses now."""
    return next(_block())
