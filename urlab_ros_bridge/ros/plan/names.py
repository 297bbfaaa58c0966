# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Names that ROS accepts, made from names of a model."""

from __future__ import annotations

from collections.abc import Iterable
import hashlib
import re

_FORBIDDEN = re.compile(r'[^A-Za-z0-9]+')
# A whole topic may have 247 characters (rmw_validate_full_topic_name): two names and what we add.
_LONGEST = 100
_DIGEST = 8


def ros_name(text: str) -> str:
    """
    Turn any text into one part of a topic name, of at most 100 characters.

    >>> ros_name('left hip/pitch'), ros_name('2nd__arm'), ros_name('')
    ('left_hip_pitch', 'n2nd_arm', 'unnamed')
    """
    name = _FORBIDDEN.sub('_', text).strip('_')
    if not name:
        return 'unnamed'
    if name[0].isdigit():
        name = f'n{name}'
    if len(name) > _LONGEST:
        digest = hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST]
        name = f'{name[: _LONGEST - _DIGEST - 1].rstrip("_")}_{digest}'
    return name


def ros_names(texts: Iterable[str]) -> dict[str, str]:
    """
    Turn texts into parts of topic names that differ from each other.

    >>> ros_names(['a b', 'a_b'])
    {'a b': 'a_b', 'a_b': 'a_b_2'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for text in texts:
        wanted = name = ros_name(text)
        count = 1
        while name in taken:
            count += 1
            name = f'{wanted}_{count}'
        taken.add(name)
        names[text] = name
    return names


def ros_path(text: str) -> str:
    """
    Turn a text with slashes into a relative topic name.

    >>> ros_path('foot FL/wrench')
    'foot_FL/wrench'
    """
    return '/'.join(ros_name(part) for part in text.split('/'))


def full_name(namespace: str, name: str) -> str:
    """
    Return the full name of a node.

    >>> full_name('/', 'a'), full_name('/b/c', 'a')
    ('/a', '/b/c/a')
    """
    return f'{namespace.rstrip("/")}/{name}'
