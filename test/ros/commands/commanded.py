# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A commanded robot over a node and a server that write down what they get."""

import time
from types import SimpleNamespace

from fake_node import FakeNode

from urlab_ros_bridge.client.errors import StaleCommand
from urlab_ros_bridge.ros.commands import joint_commands
from urlab_ros_bridge.ros.commands import velocity
from urlab_ros_bridge.ros.commands import wrench_command
from urlab_ros_bridge.ros.commands.admission import Rejections
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.gate import AnswerGate
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.extras.trajectory import commands as trajectories
from urlab_ros_bridge.ros.features.errors import FeatureErrors
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.stepping import ActiveLockstep
from urlab_ros_bridge.ros.features.stepping import Stepping
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.plan.plan import PlannedActuator
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.program.features import Settings

EXTENSIONS = ('twist_timeout', 'setpoints', 'wall_timeout', 'apply_wrench')
# The robot moves by cmd_vel, but not by its wheel: they do not compete.
BASE = Feature('base', commands=lambda robot: [velocity.VelocityCommands(robot)])
FEATURES = (BASE, joint_commands.FEATURE, wrench_command.FEATURE)
TRAJECTORIES = (trajectories.FEATURE,)
PLAN = RobotPlan(
    prefix='bot',
    namespace='',
    tf_namespace='',
    frames=SimpleNamespace(base='base_link'),
    joints=('arm', 'wheel'),
    qpos=(0, 1),
    qvel=(0, 1),
    actuators=(
        PlannedActuator('arm', 'position', 'arm', stiffness=400.0),
        PlannedActuator('wheel', 'velocity', 'wheel'),
    ),
)


class Robot:
    """A robot with a base, a wheel and an arm; its server writes down what it is asked."""

    def __init__(self, extensions=EXTENSIONS, features=FEATURES, **settings):
        self.now = 100.0
        self.asked, self.read, self.resets = [], [], []
        self.stale, self.speed = False, 0.0
        self.settings = Settings(**settings)
        self.timeline = SimpleNamespace(stamp_ns=10**9, last_advance=self.now, resets=None)
        self.rejections = Rejections(lambda severity, text: None)
        self.link = SimpleNamespace(
            state=SimpleNamespace(open=True, connected=True, mode='live'),
            has=lambda name: name in extensions,
            handshake=None,
            command_client=self,
            _stepping=(stepping := Stepping()),
            _stream=SimpleNamespace(counters=SimpleNamespace(wall_ns=77)),
        )
        self.link.wall_age = lambda timeout: ServerLink.wall_age(self.link, timeout)
        self.node = FakeNode()
        path = CommandContext(
            self.node,
            self.settings,
            self.timeline,
            AnswerGate(),
            self.rejections,
            SimpleNamespace(put=lambda key, action, *_: self.run(action)),
            self.link,
            stepping,
            FeatureErrors(print),
            lambda: self.now,
        )
        self.stepping = stepping
        self.robot = CommandedRobot(PLAN, path)
        self.arbiter, self.setpoints = self.robot.arbiter, self.robot.setpoints
        self.robot.open(features)

    def halt(self, reason):
        """Engage the e-stop."""
        self.robot.context.stop.reason = reason
        self.robot.halt(reason)

    def begin_lockstep(self):
        self.stepping.lockstep = ActiveLockstep(10**7, print, print)

    def send(self, topic, message, stale=False):
        """Let a message arrive; `stale`: it was published long ago."""
        sent = time.time_ns() - 10**11 if stale else 0
        self.node.receivers[topic](message, {'source_timestamp': sent})

    def run(self, action):
        try:
            action()
        except StaleCommand as error:
            self.rejections.add('server', error)

    def wait(self, seconds):
        """Let wall time pass while simulation time is frozen; ticks come all the same."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.tick()

    def go_on(self, seconds=0.01):
        self.now += seconds
        self.timeline.stamp_ns += round(seconds * 1e9)
        self.timeline.last_advance = self.now
        self.tick()

    def tick(self):
        self.robot.tick(self.timeline.stamp_ns, None)

    def set_twist(self, prefix, linear, angular, timeout=None, wall=None, resets=None):
        self.asked.append(('twist', linear[0], timeout, wall))
        self.resets.append(resets)

    def apply_wrench(self, body, force, torque, duration, *, wall=None, **rest):
        self.asked.append(('wrench', force[0], duration, wall))

    def set_setpoints(self, prefix, values, timeout, wall=None, resets=None):
        if self.stale and wall is not None:
            raise StaleCommand('stale_command', 'too old', 'set_setpoints')
        self.asked.append(('setpoints', dict(values), timeout, wall))

    def forward(self):
        self.read.append('forward')
        return self._state()

    def step(self, *, while_live):
        self.read.append(('step', while_live))
        return self._state()

    def _state(self):
        state = SimpleNamespace(qpos=[0.3, 0.0], qvel=[self.speed, 0.0])
        return SimpleNamespace(articulations={'bot': state})
