# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the tables in `interfaces`, and what their names mean."""

from __future__ import annotations

from dataclasses import dataclass
import re


@dataclass(frozen=True, slots=True)
class Topic:
    """
    One topic, or many of one pattern.

    :ivar name: pattern of its name.
    :ivar types: its type, or those that it may have.
    :ivar profile: function of `ros.qos` that makes its quality of service.
    :ivar when: which worlds have it; empty: all.
    :ivar rate: parameter that limits it, or how often it comes in words.
    :ivar switch: parameter that switches it off, when there is one.
    :ivar incoming: whether the bridge listens to it.
    """

    name: str
    types: tuple[str, ...]
    profile: str
    when: str = ''
    rate: str = ''
    switch: str = ''
    incoming: bool = False

    def fits(self, name: str) -> bool:
        """
        Tell whether a full name is of this pattern, for a node without namespace.

        >>> Topic('{robot}/odom', (), '').fits('/rover_1/odom'), Topic('odom', (), '').fits('/x')
        (True, False)
        """
        return re.fullmatch(pattern(self.name), name) is not None


@dataclass(frozen=True, slots=True)
class Action:
    """One action: pattern of its name, its type, and which robots have it."""

    name: str
    type_name: str
    when: str


@dataclass(frozen=True, slots=True)
class FrameRule:
    """
    Transforms of one kind.

    :ivar parent, child: frames; words in capitals are parameters.
    :ivar topic: tf or tf_static.
    :ivar switch: parameter that switches them on or off.
    """

    parent: str
    child: str
    topic: str
    when: str
    switch: str = ''


def pattern(name: str) -> str:
    """Return the regular expression of the full names of a pattern, in the root namespace."""
    name = name.replace('~/', '/urlab_bridge/')
    expression = re.escape(name if name.startswith('/') else f'/{name}')
    expression = expression.replace(re.escape('{robot}/'), r'(?:[A-Za-z]\w*/)?')
    return re.sub(r'\\\{\w+\\\}', r'[A-Za-z]\\w*', expression)
