# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One robot and its commands: their topics, who is in control, and the setpoints."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.intake import Intake
from urlab_ros_bridge.ros.commands.setpoints import ROBOT_RESETS
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.errors import text_of
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

# The reason for goals that a reset aborts.
RESET = 'the simulation was reset'


class CommandedRobot:
    """
    One robot and its commands.

    :ivar context: what commands of all robots share.
    :ivar arbiter: decides which source is in control.
    :ivar setpoints: those of its actuators.
    """

    def __init__(self, plan: RobotPlan, context: CommandContext) -> None:
        """Make the arbiter and the setpoints; `open` makes the commands."""
        self.plan = plan
        self.context = context
        self.settings = context.settings
        self.link = context.link
        self.arbiter = Arbiter(context.settings, context.stop)
        self.setpoints = Setpoints(plan, context)
        self._commands: list[tuple[str, Command]] = []  # each with the name of its feature
        self._intakes: list[Intake] = []

    def open(self, features: Iterable[Feature]) -> None:
        """Make the commands of all features, and accept messages and goals from now on."""
        for feature in features:
            if feature.commands is not None:
                with self.context.errors.caught(feature.name):
                    self._commands += [(feature.name, each) for each in feature.commands(self)]

    def subscribe(
        self,
        topic: Topic,
        receive: Callable[[Any, str], None],
        *,
        message_type: type | None = None,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """
        Subscribe to a declared topic of the robot; messages may arrive before this returns.

        :param receive: carries out a message, or raises CommandRejected; it also takes why the
            message is stale, empty when it is not.
        :param message_type: for a topic that may have several types.
        :param parts: values of the other fields of the name.
        """
        name = topic.named(self.plan.namespace, parts)
        kind = message_type or load_interface(topic.types[0])
        profile = getattr(qos, topic.profile)
        self._intakes.append(Intake(name, kind, profile, self.context, self.carry_out, receive))

    def carry_out(
        self, name: str, command: Callable[..., object], *arguments: Any
    ) -> CommandRejected | None:
        """
        Carry out a command of any kind; return why it was rejected, which is counted too.

        An e-stop of another thread may come after the command has claimed the robot, so that the
        command overtakes the stop; then the robot is stopped again.

        :param name: topic or action.
        :param command: is called with the arguments; raises CommandRejected.
        """
        stopped = self.arbiter.stopped
        try:
            command(*arguments)
        except CommandRejected as error:
            self.context.rejections.add(name, error)
            return error
        except Exception as error:
            self.context.errors.add(f'command {name}', error)
            rejected = CommandRejected(f'failed: {text_of(error)}')
            self.context.rejections.add(name, rejected)
            return rejected
        if self.arbiter.stopped and not stopped:
            self.halt(self.arbiter.stopped)
        return None

    def admit(self, moves: bool, stale: str) -> None:
        """
        Make the checks that all commands have in common.

        :param moves: whether the command moves the robot; stop commands are accepted at any age.
        :param stale: why it is too old, empty when it is not.
        :raises CommandRejected: when it is not to be carried out.
        """
        if not self.link.state.open:
            raise CommandRejected('not connected')
        if moves and (stale or self.arbiter.stopped):
            raise CommandRejected(stale or self.arbiter.stopped)

    @property
    def active(self) -> bool:
        """Whether `tick` needs joint states."""
        return any(command.active for _, command in self._commands)

    def subscriptions(self) -> set[bytes]:
        """Return the prefixes of the wire that are needed now."""
        kinds = ['joint/', 'effort'] if self.active else []
        # Always: a goal must not wait for a subscription.
        if self.plan.actuators and self.link.has(ROBOT_RESETS):
            kinds.append('resets')
        return {f'{self.plan.prefix}/{kind}'.encode() for kind in kinds}

    def tick(
        self, stamp_ns: int, joints: Sequence[np.ndarray] | None, resets: int | None = None
    ) -> None:
        """
        Continue the active commands; see `Command.tick`.

        :param resets: how often the robot was reset, None when the tick does not hold it.
        """
        if resets is not None:
            self._follow_resets(resets)
        self.setpoints.tick(stamp_ns)
        self._each(lambda command: command.tick(stamp_ns, joints))

    def _follow_resets(self, resets: int) -> None:
        """Drop the commands when another client has reset the robot."""
        before, self.setpoints.resets = self.setpoints.resets, resets
        if before not in (None, resets):
            self.jump(RESET)

    def drop_impossible(self) -> None:
        """Drop commands that cannot continue, even without ticks."""
        if problem := self.setpoints.problem():
            self._each(lambda command: command.drop(problem))

    def jump(self, reason: str) -> None:
        """Stop the robot and drop its commands, which were for another time."""
        self._each(lambda command: command.jump(reason))
        self.arbiter.clear()
        self.setpoints.clear()

    def halt(self, reason: str) -> None:
        """Stop at once."""
        self.arbiter.clear()
        self._each(lambda command: command.halt(reason))
        self.setpoints.hold()

    def stop_moving(self, reason: str) -> None:
        """Stop everything that the bridge moves, because it ends."""
        self._each(lambda command: command.jump(reason))
        self.setpoints.stop()

    def close(self, reason: str) -> None:
        """Abort goals with a reason, and withdraw all topics and actions."""
        self.arbiter.close(reason)
        self._each(lambda command: command.drop(reason))
        for intake in self._intakes:
            intake.close()
        self._each(lambda command: command.close())

    def _each(self, call: Callable[[Command], object]) -> None:
        """Call a function with each command; errors of one do not stop the others."""
        for feature, command in self._commands:
            try:
                call(command)
            except Exception as error:
                self.context.errors.add(feature, error)
