# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which topics a bag records."""

from __future__ import annotations

from collections.abc import Iterable
import re

from urlab_ros_bridge.ros.extras.bag.errors import NoSuchTopic
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.schema.patterns import compile_pattern
from urlab_ros_bridge.schema.patterns import Pattern

# Other topics are of little use without time and transforms.
ALWAYS = (r'/clock', r'(/.*)?/tf', r'(/.*)?/tf_static')
# Recorded only by name: images and clouds, which are rendered only for subscribers and are most of
# the bytes of a bag, and hidden topics, as with `ros2 bag record`.
LARGE = (r'.*/image_raw(/.*)?', r'.*/camera_info', r'.*/points(/.*)?')
HIDDEN = (r'.*/_.*',)


class Selection:
    """
    Decides which topics are recorded.

    A pattern must match the whole name: from its leading slash on, or without the namespace of
    the node (``odom`` is /odom, or /fleet/odom of a node in /fleet).
    """

    def __init__(
        self, topics: Iterable[str], exclude: Iterable[str], namespace: str = '/'
    ) -> None:
        """
        Read the patterns.

        :param topics: names or regular expressions; none: all but images, clouds and
            hidden topics.
        :param exclude: names or regular expressions of topics to leave out; takes precedence.
        :raises BadPattern: when one is not a regular expression.
        """
        self._start = namespace.rstrip('/') + '/'
        self._wanted = {text: _compile(text) for text in topics}
        self._excluded = [_compile(text) for text in exclude]
        self._always: list[Pattern] = [re.compile(text) for text in ALWAYS]
        left_out = () if self._wanted else (*LARGE, *HIDDEN)
        self._left_out: list[Pattern] = [re.compile(text) for text in left_out]

    def wants(self, topic: str) -> bool:
        """Return whether a topic is recorded, by its full name."""
        if self._matches(topic, self._excluded) or self._matches(topic, self._left_out):
            return False
        return (
            not self._wanted
            or self._matches(topic, self._wanted.values())
            or self._matches(topic, self._always)
        )

    def check(self, topics: Iterable[str]) -> None:
        """
        Check that each name matches a topic.

        :raises NoSuchTopic: when one matches none.
        """
        names = sorted(topics)
        for text, pattern in self._wanted.items():
            if not any(self._matches(name, (pattern,)) for name in names):
                raise NoSuchTopic(text, names)

    def _matches(self, topic: str, patterns: Iterable[Pattern]) -> bool:
        return any(
            pattern.fullmatch(topic) or pattern.fullmatch(topic.removeprefix(self._start))
            for pattern in patterns
        )


def _compile(text: str) -> Pattern:
    if not text:
        raise BadPattern(text, 'it is empty')
    return compile_pattern(text)
