# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Names of topics that other programs give, resolved by rclpy's own rules."""

from __future__ import annotations

from rclpy.exceptions import NameValidationException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_topic_name import validate_topic_name

from urlab_ros_bridge.wire.errors import UrlabError


class BadTopicName(UrlabError, ValueError):
    """A text is not the name of a topic."""

    def __init__(self, name: str, cause: object) -> None:
        super().__init__(f'{name!r:.300} is not a valid topic name: {cause}')


def resolve_topic(node: Node, name: str) -> str:
    """
    Return the full name of a topic after the remapping rules of a node.

    :raises BadTopicName: for a name that no publisher or subscription of the node could have.
    """
    try:
        validate_topic_name(name)
        full = expand_topic_name(name, node.get_name(), node.get_namespace())
        validate_full_topic_name(full)
        return node.resolve_topic_name(name)
    except (NameValidationException, RuntimeError, TypeError, ValueError) as error:
        raise BadTopicName(name, str(error).partition('\n')[0].rstrip(':')) from error
