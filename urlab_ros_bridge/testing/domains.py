# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
ROS domains for tests.

Test processes that go on side by side on one machine must not hear each other, and a domain is
used again only when its former processes are long forgotten.  So a domain is taken by a lock on a
file of its own, which ends with the process that holds it at the latest, and of those that are
free the one that nobody has used for the longest time is taken.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import random
import tempfile

from urlab_ros_bridge.wire.errors import UrlabError

# Domains between and above these would use ports that the system gives to others, and everybody
# who chooses none is in domain 0.
NUMBERS = (*range(1, 102), *range(215, 233))


class NoFreeDomain(UrlabError, RuntimeError):
    """All are taken."""

    def __init__(self) -> None:
        super().__init__(
            f'all {len(NUMBERS)} ROS domains that tests may use are in use: wait until another '
            f'test run ends (locks: {_path("*")})'
        )


class RosDomain:
    """
    A ROS domain of its own until `close`, or the end of this process.

    :ivar number: for ROS_DOMAIN_ID.
    """

    def __init__(self, number: int, descriptor: int) -> None:
        self.number = number
        self._descriptor = descriptor

    def __enter__(self) -> RosDomain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give it back."""
        if self._descriptor >= 0:
            os.utime(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


def take_domain() -> RosDomain:
    """
    Take a free ROS domain.

    :raises NoFreeDomain: when others hold all of them.
    """
    numbers = random.sample(NUMBERS, len(NUMBERS))
    for number in sorted(numbers, key=_last_used):
        descriptor = os.open(_path(number), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            os.utime(descriptor)
            return RosDomain(number, descriptor)
    raise NoFreeDomain


def _path(number: object) -> Path:
    return Path(tempfile.gettempdir()) / f'urlab-test-domain-{os.getuid()}-{number}'


def _last_used(number: int) -> float:
    try:
        return _path(number).stat().st_mtime
    except FileNotFoundError:
        return 0.0


__all__ = ['NoFreeDomain', 'RosDomain', 'take_domain']
