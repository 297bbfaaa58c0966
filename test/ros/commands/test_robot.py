# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of one robot, over a node and a server that write down what they get."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('control_msgs')
pytestmark = pytest.mark.ros

from trajectory_msgs.msg import JointTrajectory  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from urlab_ros_bridge.ros.commands.admission.rejections import Rejections  # noqa: E402
from urlab_ros_bridge.ros.commands.gate import AnswerGate  # noqa: E402
from urlab_ros_bridge.ros.commands.path import CommandPath  # noqa: E402
from urlab_ros_bridge.ros.commands.robot import RobotCommands  # noqa: E402
from urlab_ros_bridge.ros.features.timeline import Timeline  # noqa: E402
from urlab_ros_bridge.ros.plan.plan import PlannedActuator  # noqa: E402
from urlab_ros_bridge.ros.plan.plan import RobotPlan  # noqa: E402
from urlab_ros_bridge.ros.program.features import Settings  # noqa: E402

SECOND = 10**9


class Node:
    """A node whose publishers keep their messages, and whose subscriptions are by topic."""

    def has_parameter(self, name):
        return False

    def __init__(self):
        self.published, self.receivers = {}, {}

    def create_publisher(self, kind, topic, qos, **options):
        kept = self.published.setdefault(topic, [])
        return SimpleNamespace(get_subscription_count=lambda: 1, publish=kept.append)

    def create_subscription(self, kind, topic, receive, qos, **options):
        self.receivers[topic] = receive
        return SimpleNamespace(topic_name=topic)

    def resolve_topic_name(self, topic):
        return topic


@pytest.fixture
def arm():
    """Return the commands of a robot with one joint, its node and the timeline."""
    settings, timeline, node = Settings(trajectory_rate=0.0), Timeline(), Node()
    link = SimpleNamespace(
        state=SimpleNamespace(open=True, connected=True, mode='live'),
        has=lambda name: name in ('setpoints', 'twist_timeout'),
        handshake=None,
        lockstep=False,
    )
    sender = SimpleNamespace(put=lambda key, action, limit=0: None)
    rejections = Rejections(lambda severity, text: None)
    path = CommandPath(settings, timeline, AnswerGate(), rejections, sender, link)
    plan = RobotPlan(
        prefix='bot',
        namespace='',
        tf_namespace='',
        frames=SimpleNamespace(base='base_link'),
        joints=('arm',),
        qpos=(0,),
        qvel=(0,),
        actuators=(PlannedActuator('arm', 'position', 'arm'),),
    )
    return (
        RobotCommands(plan, path, node),
        node,
        timeline,
    )


def follow(robot, node, timeline, stamp_ns):
    """Start a trajectory of a second and let one tick pass."""
    timeline.published(stamp_ns)
    point = JointTrajectoryPoint(positions=[0.1])
    point.time_from_start.sec = 1
    message = JointTrajectory(joint_names=['arm'], points=[point])
    node.receivers['joint_trajectory_controller/joint_trajectory'](message)
    robot.tick(stamp_ns, [np.zeros(1)] * 3)


def test_the_state_of_a_trajectory_is_published_at_once_after_time_went_back(arm):
    robot, node, timeline = arm
    states = node.published['joint_trajectory_controller/controller_state']
    follow(robot, node, timeline, 100 * SECOND)
    assert [state.header.stamp.sec for state in states] == [100]
    robot.jump('the simulation was reset')
    follow(robot, node, timeline, 1 * SECOND)
    assert [state.header.stamp.sec for state in states] == [100, 1]
