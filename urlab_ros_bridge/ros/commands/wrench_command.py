# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""wrench_command: pushes on the bodies of one robot, for a short while each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from geometry_msgs.msg import WrenchStamped
import numpy as np

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.context import CommandParameters
from urlab_ros_bridge.ros.commands.repeated import RepeatedCommands
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.schema import key

NAME = 'ros/wrench_command'
_NOTHING = (0.0,) * 6


@dataclass(frozen=True)
class WrenchParameters:
    """Duration of wrenches."""

    wrench_duration: float = key(
        0.1,
        'How long a message on wrench_command pushes unless another one arrives (s of simulation '
        'time).',
        low=0.0,
        high=60.0,
        live=True,
    )


class WrenchCommands(Command):
    """
    Wrenches on the bodies of one robot.

    ``header.frame_id`` is the body that is pushed, by its local name, and the frame of the wrench,
    which turns with the body.  The next message for a body replaces the previous one.
    """

    def __init__(self, robot: CommandedRobot) -> None:
        self._robot = robot
        self._link, self._context = robot.link, robot.context
        self._topic = WRENCH_COMMAND.named(robot.plan.namespace)
        self._epoch = 0
        self._pushes = RepeatedCommands[str](robot.context)
        robot.subscribe(WRENCH_COMMAND, self.receive)

    def receive(self, message: WrenchStamped, stale: str) -> None:
        """
        Carry out a message.

        :param stale: why it is too old, empty when it is not.
        :raises CommandRejected: when it is not carried out.
        """
        force, torque = message.wrench.force, message.wrench.torque
        numbers = (force.x, force.y, force.z, torque.x, torque.y, torque.z)
        if not all(map(math.isfinite, numbers)):
            raise CommandRejected(f'the wrench is not finite: {numbers}')
        self._robot.admit(any(numbers), stale)
        # An empty frame means the base, whatever its body is called.
        frame = message.header.frame_id
        body = '' if frame == self._robot.plan.frames.base else frame
        self._pushes.replace((body,), (body,) if any(numbers) else ())
        self._send(body, numbers)

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """End the wrenches that were given while time is frozen, and not repeated for a while."""
        for reason, bodies in self._pushes.take_withdrawn(stamp_ns).items():
            for body in bodies:
                self._send(body, _NOTHING)
            self._context.rejections.add(self._topic, CommandRejected(f'withdrawn: {reason}'))

    def halt(self, reason: str) -> None:
        """End the latest pushes."""
        for body in self._pushes.clear():
            self._send(body, _NOTHING)

    def jump(self, reason: str) -> None:
        """Forget the pushes, also those that wait to be sent: the server has."""
        self._epoch += 1
        self._pushes.clear()

    def _send(self, body: str, numbers: Sequence[float]) -> None:
        settings, moves = self._robot.settings, any(numbers)
        duration = settings(WrenchParameters).wrench_duration
        limit, epoch = settings(CommandParameters).command_max_age, self._epoch

        def action() -> None:
            if epoch != self._epoch:
                return
            self._link.command_client.apply_wrench(
                body,
                numbers[:3],
                numbers[3:],
                duration,
                articulation=self._robot.plan.prefix,
                frame='body',
                name=NAME,
                wall=self._link.wall_age(limit) if moves else None,
            )

        lasting = not moves or limit <= 0 or self._context.stepping.in_lockstep
        self._context.sender.put(f'{self._topic} {body}', action, math.inf if lasting else limit)


def commands(robot: CommandedRobot) -> list[Command]:
    """Make wrench_command if the server has apply_wrench."""
    return [WrenchCommands(robot)] if robot.link.has('apply_wrench') else []


WRENCH_COMMAND = Topic(
    '{robot}/wrench_command',
    ('geometry_msgs/msg/WrenchStamped',),
    'command',
    when='servers with the op apply_wrench',
    incoming=True,
)
FEATURE = Feature(
    'wrench commands',
    WrenchParameters,
    group='Trajectories and control',
    topics=(WRENCH_COMMAND,),
    commands=commands,
)
