# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The topics that lockstep waits for: their subscriptions and their publishers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.exceptions import NameValidationException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_topic_name import validate_topic_name

from urlab_ros_bridge.ros.commands.gate import AnswerGate
from urlab_ros_bridge.ros.extras.lockstep.repetition import Ids
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepEnded
from urlab_ros_bridge.ros.features.taps import Tap
from urlab_ros_bridge.ros.features.taps import taps_of
from urlab_ros_bridge.ros.messages.stamps import stamp_reader
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
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


_DEPTH = 10


class TopicRejected(LockstepEnded, ValueError):
    """A topic cannot be waited for."""


class Topics:
    """
    The topics of one lockstep.

    The bridge's own command topics have their subscriptions already, and their messages pass
    through the gate.  Any other topic gets one of its own here that leaves its messages
    serialised; its type is that of its publishers, so it has to wait for one.

    :ivar names: resolved name -> the name that the user gave.
    """

    def __init__(self, node: Node, gate: AnswerGate, names: Iterable[str]) -> None:
        """
        Resolve the names.

        :raises BadTopicName: when one is not a valid topic name.
        """
        self._node = node
        self._gate = gate
        self._made: dict[str, _Answers] = {}
        self.names: dict[str, str] = {}
        for name in names:
            self.names[resolve_topic(node, name)] = name

    def close(self) -> None:
        """Destroy the subscriptions made here."""
        for answers in self._made.values():
            answers.close()
        self._made.clear()

    def absent(self) -> list[str]:
        """
        Return the topics, as the user wrote them, that have no publisher yet.

        :raises TopicRejected: for one that the bridge itself publishes, or of more than one type,
            or of one that is not installed here.
        """
        return [name for topic, name in self.names.items() if not self._is_published(topic)]

    def publishers(self, topic: str) -> Ids:
        """Return the publishers of a topic (resolved name)."""
        infos = self._node.get_publishers_info_by_topic(topic)
        return frozenset(tuple(info.endpoint_gid) for info in infos)

    def _is_published(self, topic: str) -> bool:
        if topic not in self._gate.command_topics and topic not in self._made:
            self._subscribe(topic)
        is_subscribed = topic in self._gate.command_topics or topic in self._made
        return is_subscribed and self._node.count_publishers(topic) > 0

    def _subscribe(self, topic: str) -> None:
        """Subscribe to a topic, once it has a publisher."""
        infos = self._node.get_publishers_info_by_topic(topic)
        if not infos:
            return
        name = self.names[topic]
        mine = (self._node.get_name(), self._node.get_namespace())
        if any((info.node_name, info.node_namespace) == mine for info in infos):
            raise TopicRejected(
                f'{name!r} is published by the bridge itself, so it cannot be an answer'
            )
        types = sorted({info.topic_type for info in infos})
        if len(types) > 1:
            raise TopicRejected(f'{name!r} has several types: {", ".join(types)}')
        try:
            kind = load_interface(types[0])
        except UrlabError as error:
            raise TopicRejected(f'{name!r}: {error}') from error
        reliable = all(
            info.qos_profile.reliability is ReliabilityPolicy.RELIABLE for info in infos
        )
        policy = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        profile = QoSProfile(depth=_DEPTH, reliability=policy)
        self._made[topic] = _Answers(self._node, self._gate, kind, topic, profile)


class _Answers(Tap):
    """The subscription of a topic that is no command; its messages stay serialised."""

    def __init__(
        self, node: Node, gate: AnswerGate, kind: type[Any], topic: str, profile: QoSProfile
    ) -> None:
        self._node, self._gate, self.topic_name = node, gate, topic
        self._stamp_of = stamp_reader(kind)
        self._subscription = node.create_subscription(kind, topic, self.take, profile, raw=True)
        super().__init__(self._subscription)
        taps_of(node).add(self)

    def take(self, message: bytes) -> None:
        if self.sink is not None:
            self.sink.add_received(message)
        self._gate.record_answer(self.topic_name, self._stamp_of(message))

    def close(self) -> None:
        taps_of(self._node).discard(self)
        self._node.destroy_subscription(self._subscription)
