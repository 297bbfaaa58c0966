# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""wrench_command: pushes on the bodies of one robot, for a short while each."""

from __future__ import annotations

from collections.abc import Callable
import math

from geometry_msgs.msg import WrenchStamped

from urlab_ros_bridge.ros.arbitration import Arbiter
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.limits import Refused
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.refusals import Refusals
from urlab_ros_bridge.ros.sender import CommandSender
from urlab_ros_bridge.ros.settings import Settings

NAME = 'ros/wrench_command'


class WrenchCommands:
    """
    Messages for one robot.

    ``header.frame_id`` is the body that is pushed, by its local name, and the frame of the wrench,
    which turns with the body.  The next message for a body takes the place of the one before.
    """

    message_type = WrenchStamped

    def __init__(
        self,
        plan: RobotPlan,
        topic: str,
        link: Link,
        sender: CommandSender,
        refusals: Refusals,
        settings: Callable[[], Settings],
        arbiter: Arbiter,
    ) -> None:
        self.topic = topic
        self._plan = plan
        self._link = link
        self._sender = sender
        self._refusals = refusals
        self._settings = settings
        self._arbiter = arbiter

    def receive(self, message: WrenchStamped) -> None:
        """Take a message."""
        force, torque = message.wrench.force, message.wrench.torque
        numbers = (force.x, force.y, force.z, torque.x, torque.y, torque.z)
        frame = message.header.frame_id
        try:
            if not self._link.state.open:
                raise Refused('not connected')
            if self._arbiter.stopped and any(numbers):
                raise Refused(self._arbiter.stopped)
            if not all(map(math.isfinite, numbers)):
                raise Refused(f'the wrench is not finite: {numbers}')
        except Refused as error:
            self._refusals.add(self.topic, error)
            return
        # An empty frame stands for the base, whatever the body is called.
        body = '' if frame == self._plan.frames.base else frame
        duration = self._settings().wrench_duration

        def action() -> None:
            self._link.commands.apply_wrench(
                body,
                numbers[:3],
                numbers[3:],
                duration,
                articulation=self._plan.prefix,
                frame='body',
                name=NAME,
            )

        self._sender.put(f'{self.topic} {body}', action)
