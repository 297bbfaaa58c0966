# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiled names, ``{prefix}_{local name}``, and the articulation that each of them belongs to.

Articulations may be called `arm` and `arm_left`.  Then `arm_left_j1` begins with both prefixes;
it belongs to the longest one that fits, so that no element ever belongs to two robots.
"""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from itertools import count
import re

_PREFIX = re.compile(r'[A-Za-z][A-Za-z0-9_]*')
# First segments of topics that belong to no articulation.
_RESERVED = ('scene', 'state', 'sim_time', 'points')


def compiled_name(prefix: str, local: str) -> str:
    """
    Return the name in the compiled model.

    >>> compiled_name('arm', 'j1'), compiled_name('', 'table')
    ('arm_j1', 'table')
    """
    return f'{prefix}_{local}' if prefix else local


class Prefixes:
    """
    The prefixes of all articulations of one world.

    An empty prefix is that of a model without prefixes: it gets what belongs to no other one.
    """

    def __init__(self, prefixes: Iterable[str]) -> None:
        """Use these prefixes, given without their underscores."""
        self._longest_first = sorted({p for p in prefixes if p}, key=len, reverse=True)

    def split(self, name: str) -> tuple[str, str]:
        """
        Split a compiled name into prefix and local name; the prefix is empty for scenery.

        >>> arms = Prefixes(['arm', 'arm_left'])
        >>> arms.split('arm_left_j1'), arms.split('arm_j1'), arms.split('table')
        (('arm_left', 'j1'), ('arm', 'j1'), ('', 'table'))
        """
        for prefix in self._longest_first:
            if name.startswith(f'{prefix}_'):
                return prefix, name[len(prefix) + 1 :]
        return '', name

    def owner(self, name: str) -> str:
        """Return the prefix of the articulation that a name belongs to, '' for scenery."""
        return self.split(name)[0]

    def local(self, prefix: str, name: str) -> str | None:
        """Return the local name when `name` belongs to the articulation, else None."""
        owner, local = self.split(name)
        return local if owner == prefix else None


def known_name(given: str, prefix: str, known: Container[str]) -> str:
    """
    Return the local name that a user means; the compiled one is accepted.

    A local name comes first: joints of the robot `panda` are often called `panda_joint1`.

    >>> known_name('panda_joint1', 'panda', ['panda_joint1']), known_name('arm_j1', 'arm', ['j1'])
    ('panda_joint1', 'j1')
    """
    return given if given in known else given.removeprefix(f'{prefix}_')


def prefix_problem(prefix: str, others: Iterable[str] = ()) -> str:
    """
    Return why an articulation cannot have this prefix beside the others; '' when it can.

    Clients find the elements of a robot by "{prefix}_": no prefix may begin another one.
    """
    if not _PREFIX.fullmatch(prefix):
        return f'{prefix!r} must begin with a letter and contain only letters, digits and _'
    if prefix in _RESERVED:
        return f'{prefix!r} names topics of its own ({", ".join(_RESERVED)})'
    for other in others:
        if other == prefix:
            return f'{prefix!r} is already used by another articulation'
        short, long = sorted((prefix, other), key=len)
        if long.startswith(short + '_'):
            return (
                f'{prefix!r} and {other!r} are ambiguous: names of '
                f'{long!r} begin with "{short}_" too'
            )
    return ''


def numbered(stem: str, separator: str = '_') -> Iterator[str]:
    """
    Yield a name, then the same with numbers: the first that is not taken is the one to use.

    >>> from itertools import islice
    >>> list(islice(numbered('box'), 3))
    ['box', 'box_2', 'box_3']
    """
    yield stem
    for number in count(2):
        yield f'{stem}{separator}{number}'


def valid_prefix(name: str) -> str:
    """
    Turn any model name into an articulation prefix: letters, digits and single underscores.

    >>> valid_prefix('7-dof arm/v2')
    'robot_7_dof_arm_v2'
    """
    text = re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')
    if not text:
        return 'robot'
    return text if text[0].isalpha() and text not in _RESERVED else f'robot_{text}'
