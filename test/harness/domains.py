# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
ROS domains for tests.

Test processes that go on side by side on one machine must not hear each other, and a domain is
used again only when its former processes are long forgotten.  So a domain is taken by a lock on a
file of its own, which ends with the process that holds it at the latest, and of those that are
free the one that nobody has used for the longest time is taken.
"""

import contextlib
import fcntl
import os
from pathlib import Path
import random
import tempfile

# Domains between and above these would use ports that the system gives to others, and everybody
# who chooses none is in domain 0.
NUMBERS = (*range(1, 102), *range(215, 233))

# Blocks that are open, the innermost last: descriptors of what was taken in each.
_blocks: list[list[int]] = [[]]


class NoFreeDomain(RuntimeError):
    """All are taken."""

    def __init__(self):
        super().__init__(
            f'all {len(NUMBERS)} ROS domains that tests may use are taken: wait until another '
            f'test run has ended (locks: {_path("*")})'
        )


def free_domain():
    """Return a ROS domain that nobody else uses until the fixture or the test that asks ends."""
    numbers = random.sample(NUMBERS, len(NUMBERS))
    for number in sorted(numbers, key=_last_used):
        descriptor = os.open(_path(number), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            os.utime(descriptor)
            _blocks[-1].append(descriptor)
            return number
    raise NoFreeDomain


@contextlib.contextmanager
def kept():
    """Yield a function that gives back what was taken in this block and in none inside it."""
    taken = []

    def give_back():
        while taken:
            descriptor = taken.pop()
            os.utime(descriptor)
            os.close(descriptor)

    _blocks.append(taken)
    try:
        yield give_back
    finally:
        _blocks.remove(taken)


def _path(number):
    return Path(tempfile.gettempdir()) / f'urlab-test-domain-{os.getuid()}-{number}'


def _last_used(number):
    try:
        return _path(number).stat().st_mtime
    except FileNotFoundError:
        return 0.0
