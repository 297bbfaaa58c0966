# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""wrench_command: pushes on the bodies of one robot, for a short while each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from geometry_msgs.msg import WrenchStamped

from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.parameters import CommandParameters
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.commands.setpoints import WITHDRAWN
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.schema import key

NAME = 'ros/wrench_command'
_NOTHING = (0.0,) * 6


@dataclass(frozen=True)
class WrenchParameters:
    """How long a wrench pushes."""

    wrench_duration: float = key(
        0.1,
        'How long a message on wrench_command pushes unless another one arrives (s of simulation '
        'time).',
        low=0.0,
        high=60.0,
        live=True,
    )


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
        path: CommandPath,
        arbiter: Arbiter,
    ) -> None:
        self.topic = topic
        self._plan = plan
        self._path = path
        self._link = path.link
        self._arbiter = arbiter
        # Body -> simulation time and wall time of the last message, while time is frozen.
        self._waiting: dict[str, tuple[int | None, float]] = {}

    def receive(self, message: WrenchStamped, stale: str = '') -> None:
        """
        Take a message.

        :param stale: why it is too old, empty when it is not; zeros are never too old.
        """
        force, torque = message.wrench.force, message.wrench.torque
        numbers = (force.x, force.y, force.z, torque.x, torque.y, torque.z)
        frame = message.header.frame_id
        try:
            if not self._link.state.open:
                raise CommandRejected('not connected')
            if self._arbiter.stopped and any(numbers):
                raise CommandRejected(self._arbiter.stopped)
            if not all(map(math.isfinite, numbers)):
                raise CommandRejected(f'the wrench is not finite: {numbers}')
            if stale and any(numbers):
                raise CommandRejected(stale)
        except CommandRejected as error:
            self._path.reject(self.topic, error)
            return
        # An empty frame stands for the base, whatever the body is called.
        body = '' if frame == self._plan.frames.base else frame
        self._waiting.pop(body, None)
        if any(numbers):
            self._waiting[body] = self._path.timeline.stamp_ns, self._path.monotonic()
        self._send(body, numbers)

    def tick(self, stamp_ns: int) -> None:
        """End the wrenches that were given while time is frozen, and not repeated for a while."""
        limit, now = self._path.settings(CommandParameters).command_max_age, self._path.monotonic()
        moved = self._path.timeline.moved
        for body, (given_ns, came) in tuple(self._waiting.items()):
            if given_ns != stamp_ns:
                self._waiting.pop(body, None)
            elif 0 < limit < now - max(came, moved) and not self._link.lockstep:
                self._waiting.pop(body, None)
                self._send(body, _NOTHING)
                text = f'withdrawn: {WITHDRAWN.format(limit)}'
                self._path.reject(self.topic, CommandRejected(text))

    def clear(self) -> None:
        """Forget what waits: after a reset."""
        self._waiting.clear()

    def _send(self, body: str, numbers: Sequence[float]) -> None:
        settings, moves = self._path.settings, any(numbers)
        duration, limit = (
            settings(WrenchParameters).wrench_duration,
            settings(CommandParameters).command_max_age,
        )

        def action() -> None:
            self._link.commands.apply_wrench(
                body,
                numbers[:3],
                numbers[3:],
                duration,
                articulation=self._plan.prefix,
                frame='body',
                name=NAME,
                wall=self._link.wall_age(limit) if moves else None,
            )

        lasting = not moves or limit <= 0 or self._link.lockstep
        self._path.sender.put(f'{self.topic} {body}', action, math.inf if lasting else limit)


WRENCH_COMMAND = Topic(
    '{robot}/wrench_command',
    ('geometry_msgs/msg/WrenchStamped',),
    'command',
    'servers with the op apply_wrench',
    incoming=True,
)
FEATURE = Feature(
    'wrench commands', WrenchParameters, group='Trajectories and control', topics=(WRENCH_COMMAND,)
)
