# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which words are found for whom, and how often, with a graph and a clock that are made up."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.node import NodeNameNonExistentError  # noqa: E402

from urlab_ros_bridge.ros.reports.graph import OtherPublishers  # noqa: E402

OWN = '/urlab_bridge'


class Graph:
    """
    A node in a graph: topic -> full names of all its publishers.

    It counts the questions about single topics, each of which goes through all publishers.
    """

    def __init__(self, **topics):
        self.now, self.asked = 0.0, 0
        self.all = {f'/{topic}': [OWN, *names] for topic, names in topics.items()}
        self.publishers = [SimpleNamespace(topic_name=topic) for topic in self.all]
        self.logged = []
        log = lambda severity, text: self.logged.append((severity, text))  # noqa: E731
        self.others = OtherPublishers(self, log, lambda: self.now)

    def create_timer(self, seconds, callback):
        pass

    def get_fully_qualified_name(self):
        return OWN

    def get_node_names_and_namespaces(self):
        # Nodes of one name are told apart by how often they publish one topic.
        names = {name for some in self.all.values() for name in some if 'UNKNOWN' not in name}
        found = []
        for full in sorted({OWN, *names}):
            namespace, _, name = full.rpartition('/')
            times = max(1, *(some.count(full) for some in self.all.values()))
            found += [(name, namespace or '/')] * times
        return found

    def get_publisher_names_and_types_by_node(self, name, namespace):
        full = f'{namespace.rstrip("/")}/{name}'
        if full == '/just_ended':
            raise NodeNameNonExistentError
        return [(topic, ['a/msg/B']) for topic, names in self.all.items() if full in names]

    def count_publishers(self, topic):
        self.asked += 1
        return len(self.all[topic])

    def get_publishers_info_by_topic(self, topic):
        parts = [name.rpartition('/') for name in self.all[topic]]
        return [
            SimpleNamespace(node_namespace=namespace or '/', node_name=name)
            for namespace, _, name in parts
        ]

    def look(self, seconds):
        for _ in range(seconds):
            self.now += 1.0
            self.others.check()

    def settled(self):
        self.others.check()
        self.now += 60.0
        self.others.check()
        return self.others.topics


def test_it_is_logged_once_and_once_when_it_is_over():
    graph = Graph(clock=[], odom=[])
    graph.all['/odom'].append('/robot/ekf')
    graph.look(60)
    assert [severity for severity, _ in graph.logged] == ['warning']
    assert '/robot/ekf publishes /odom too' in graph.others.text
    assert graph.others.topics == {'/odom': ['/robot/ekf']}
    graph.all['/odom'].remove('/robot/ekf')
    graph.look(60)
    assert [severity for severity, _ in graph.logged] == ['warning', 'info']
    assert graph.others.text == '' and graph.others.topics == {}


def test_who_is_about_to_leave_is_not_talked_about():
    graph = Graph(clock=[])
    graph.all['/clock'].append('/sim')
    graph.look(9)
    graph.all['/clock'].remove('/sim')
    graph.look(20)
    assert not graph.logged


def test_the_dead_are_not_talked_about_but_who_outlives_their_lease_is():
    graph = Graph(clock=[OWN])
    graph.others.start()
    graph.look(29)
    assert not graph.logged
    graph.all['/clock'].append('/gazebo')
    graph.look(20)
    assert 'another bridge' in graph.logged[-1][1]
