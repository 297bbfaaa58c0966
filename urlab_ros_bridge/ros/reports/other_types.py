# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Publishers of commands of a type that the bridge does not accept.

ROS connects publishers and subscribers of one type only, and says nothing of the others.  The
most frequent case is cmd_vel, which is a Twist on Jazzy and a TwistStamped from Kilted on.  One
process cannot listen to both: a DDS participant has one type for a topic.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from urlab_ros_bridge.ros.commands.velocity import cmd_vel_value
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.plan.names import full_name
from urlab_ros_bridge.ros.reports.graph_check import GraphCheck
from urlab_ros_bridge.ros.reports.graph_check import with_topics

NAME = 'types of commands'


@dataclass(frozen=True)
class OtherType:
    """A publisher that the bridge cannot receive."""

    topic: str
    node: str
    type_name: str
    taken: str

    def __str__(self) -> str:
        text = (
            f'{self.node} publishes {self.topic} as {self.type_name}, which is ignored: the '
            f'bridge takes {self.taken}'
        )
        value = cmd_vel_value(self.type_name)
        if not value:
            return text
        return f'{text}. To use this type, start the bridge with cmd_vel_type set to "{value}"'


class OtherTypes(GraphCheck):
    """
    Publishers of other types on the topics that the bridge subscribes to.

    :ivar found: those of another type, now.
    """

    name = NAME

    def __init__(self, node: Node, log: Callable[[str, str], None]) -> None:
        super().__init__(node, log)
        self.found: tuple[OtherType, ...] = ()
        self._logged: set[OtherType] = set()

    def check(self) -> None:
        """Check the graph; each publisher is logged once."""
        self.found = tuple(self._find())
        for each in self.found:
            if each not in self._logged:
                self._logged.add(each)
                self._log('warning', str(each))

    def results(self) -> Iterator[Status]:
        """Return the publishers that were found."""
        found = self.found
        text = '; '.join(map(str, found)) or 'all have the accepted types'
        values = {f'{each.topic} from {each.node}': each.type_name for each in found}
        yield Status(NAME, text, values, 'warning' if found else 'ok')

    def _find(self) -> Iterable[OtherType]:
        # One query for all topics: one for a single topic goes through the whole graph, too.
        types = dict(self._node.get_topic_names_and_types())
        for subscription, topic in with_topics(self._node.subscriptions):
            kind: Any = subscription.msg_type
            taken = f'{kind.__module__.replace(".", "/").rpartition("/")[0]}/{kind.__name__}'
            if all(each == taken for each in types.get(topic, ())):
                continue
            for info in self._node.get_publishers_info_by_topic(topic):
                # The graph may know of a publisher before it knows its node.
                if info.topic_type != taken and '_UNKNOWN_' not in info.node_name:
                    name = full_name(info.node_namespace, info.node_name)
                    yield OtherType(topic, name, info.topic_type, taken)


FEATURE = Feature(NAME, attach=lambda bridge: OtherTypes(bridge.node, bridge.log))
