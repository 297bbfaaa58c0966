# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which navigation targets of the server are published, and how often."""

from types import SimpleNamespace

from fake_node import FakeNode

from urlab_ros_bridge.client.replies.ops import NavigationTarget
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.ros.topics import navigation


def robot(prefix, drives=True):
    frames = SimpleNamespace(map='map')
    return SimpleNamespace(prefix=prefix, namespace=prefix, drives=drives, frames=frames)


def test_each_known_target_of_a_robot_that_drives_is_published_once_in_each_run():
    node, link, targets = FakeNode(), SimpleNamespace(on_status=[]), []
    plan = SimpleNamespace(robots=(robot('rover'), robot('crane', drives=False)))
    publishers = Publishers(node)
    world = SimpleNamespace(topics=SimpleNamespace(publishers=publishers))
    bridge = SimpleNamespace(
        part={ServerLink: link, CurrentWorld: world}.__getitem__,
        log=lambda *line: None,
        settings=Settings(),
        run_in_stream=lambda task: task(),
        timeline=SimpleNamespace(stamp_ns=1_500_000_000),
    )
    part = navigation.NavigationTargets(bridge)
    for each in plan.robots:
        topics = {'plan': each, 'namespace': each.namespace, 'settings': bridge.settings}
        navigation.feeds(SimpleNamespace(publishers=publishers, **topics))

    def announce(number, name='rover', kind='goal', x=0.0):
        targets.append(NavigationTarget(number, name, kind, x, 0.0, 0.0))
        for take in 2 * link.on_status:
            take(SimpleNamespace(navigation_targets=tuple(targets)), 0.0)

    def begin_run(name):
        part.take_world(plan, SimpleNamespace(raw={'run': name}))

    begin_run('first')
    announce(1, x=1.0)
    announce(2, kind='initial_pose')
    begin_run('first')  # the world was changed, and continues
    announce(3, 'crane')
    announce(4, kind='dock')  # of a newer server
    announce(5, x=3.0)
    targets.clear()
    begin_run('second')
    announce(1, x=4.0)
    assert set(node.published) == {'rover/goal_pose', 'rover/initialpose'}
    goals = node.published['rover/goal_pose']
    assert [goal.pose.position.x for goal in goals] == [1.0, 3.0, 4.0]
    assert len(node.published['rover/initialpose']) == 1
