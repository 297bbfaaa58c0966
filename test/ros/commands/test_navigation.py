# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which navigation targets of the server are published, and how often."""

from types import SimpleNamespace

from fake_node import FakeNode

from urlab_ros_bridge.client.replies.ops import NavigationTarget
from urlab_ros_bridge.ros.commands import navigation
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.stream import StreamThread


def robot(prefix, drives=True):
    frames = SimpleNamespace(map='map')
    return SimpleNamespace(prefix=prefix, namespace=prefix, drives=drives, frames=frames)


PLAN = SimpleNamespace(robots=(robot('rover'), robot('crane', drives=False)))


class Bridged:
    """The part between a node that keeps its messages and a server that is played."""

    def __init__(self, is_on=True):
        self.node, self.log = FakeNode(), []
        self.link = SimpleNamespace(on_status=[])
        self.targets = []
        parameters = navigation.NavigationParameters(publish_navigation_targets=is_on)
        publishers = Publishers(self.node)
        world = SimpleNamespace(publishers=publishers)
        parts = {ServerLink: self.link, StreamThread: SimpleNamespace(world=world)}
        bridge = SimpleNamespace(
            node=self.node,
            part=parts.__getitem__,
            log=lambda *line: self.log.append(line),
            settings=lambda kind: parameters,
            run_in_stream=lambda task: task(),
            timeline=SimpleNamespace(stamp_ns=1_500_000_000),
        )
        self.part = navigation.NavigationTargets(bridge)
        for each in PLAN.robots:
            navigation.feeds(
                SimpleNamespace(
                    plan=each,
                    namespace=each.namespace,
                    settings=bridge.settings,
                    publishers=publishers,
                )
            )
        self.begin_run('first')

    def begin_run(self, name):
        self.part.published(PLAN, SimpleNamespace(raw={'run': name}))

    def announce(self, number, robot='rover', kind='goal', x=0.0):
        self.targets.append(NavigationTarget(number, robot, kind, x, 0.0, 0.0))
        self.poll()

    def poll(self):
        for take in self.link.on_status:
            take(SimpleNamespace(navigation_targets=tuple(self.targets)), 0.0)

    def goals(self):
        return [goal.pose.position.x for goal in self.node.published['rover/goal_pose']]


def test_each_target_of_a_run_is_published_once():
    bridged = Bridged()
    bridged.announce(1, x=1.0)
    bridged.announce(2, kind='initial_pose')
    bridged.announce(3, x=3.0)
    bridged.poll()
    bridged.begin_run('first')  # the world was changed, and continues
    bridged.poll()
    assert bridged.goals() == [1.0, 3.0]
    assert len(bridged.node.published['rover/initialpose']) == 1
    bridged.targets.clear()
    bridged.begin_run('second')
    bridged.announce(1, x=4.0)
    assert bridged.goals() == [1.0, 3.0, 4.0]


def test_robots_that_do_not_drive_have_no_topics_and_unknown_targets_are_skipped():
    bridged = Bridged()
    assert set(bridged.node.published) == {'rover/goal_pose', 'rover/initialpose'}
    bridged.announce(1, robot='crane')
    bridged.announce(2, kind='dock')  # of a newer server
    bridged.announce(3, x=3.0)
    assert bridged.goals() == [3.0]


def test_nothing_is_published_when_it_is_switched_off():
    bridged = Bridged(is_on=False)
    bridged.announce(1)
    assert not bridged.node.published
