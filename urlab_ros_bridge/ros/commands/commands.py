# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of all robots."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import threading
from typing import Any
from typing import TypeVar

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.commands.admission import Rejections
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.context import CommandParameters
from urlab_ros_bridge.ros.commands.gate import AnswerGate
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.commands.robot import RESET
from urlab_ros_bridge.ros.commands.sender import CommandSender
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import UrlabError

ResultT = TypeVar('ResultT')
# The reason for goals that are aborted when the bridge ends.
ENDING = 'the bridge is shutting down'


class Commands(Part):
    """
    The commands of all robots.

    :ivar rejections: counts commands that were not carried out.
    :ivar gate: holds the messages of lockstep topics.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.rejections = Rejections(bridge.log)
        self.gate = AnswerGate(lambda: bridge.settings(CommandParameters).command_max_age)
        self.sender = CommandSender(self._not_sent)
        self._features = bridge.features
        self._stream = bridge.part(StreamThread)
        self._context = CommandContext(
            bridge.node,
            bridge.settings,
            bridge.timeline,
            self.gate,
            self.rejections,
            self.sender,
            bridge.part(ServerLink),
            bridge.stepping,
            bridge.errors,
        )
        # Setpoints and velocities were for the server before.
        bridge.part(ServerLink).on_new_run.append(self._forget_server)
        bridge.wire_needs.append(self.wire_needs)
        self._robots: tuple[CommandedRobot, ...] = ()
        # The bridge may end while a world is being published.
        self._changing, self._ended = threading.Lock(), False

    @property
    def stopped(self) -> str:
        """Return why nothing may move, empty when all may."""
        return self._context.stop.reason

    def wire_needs(self) -> set[bytes]:
        """Return the prefixes of the wire that commands under way need."""
        return set().union(*(robot.subscriptions() for robot in self._robots))

    def start(self) -> None:
        """Start the thread."""
        self.sender.start()

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Accept commands for these robots only; unchanged robots continue."""
        with self._changing:
            if not self._ended:
                self._apply(plan)

    def _apply(self, plan: WorldPlan) -> None:
        kept = [robot for robot in self._robots if robot.plan in plan.robots]
        for robot in self._robots:
            if robot not in kept:
                robot.close(f'the world has changed: {robot.plan.prefix} was deleted or replaced')
        known = [robot.plan for robot in kept]
        new = [CommandedRobot(robot, self._context) for robot in plan.robots if robot not in known]
        self._robots = (*kept, *new)
        for robot in new:
            robot.open(self._features)

    def _not_sent(self, key: str, error: Exception) -> None:
        self.rejections.add(key, error)
        if not isinstance(error, UrlabError):
            self._context.errors.add(f'sender of {key}', error)

    def tick(self, stamp_ns: int) -> None:
        """Continue the active commands; called in the stream thread after every tick."""
        for robot in self._robots:
            prefix = robot.plan.prefix
            joints = self._stream.joints(prefix) if robot.active else None
            robot.tick(stamp_ns, joints, self._stream.resets(prefix))

    def every_second(self, now: float) -> None:
        """Abort commands that cannot continue."""
        for robot in self._robots:
            robot.drop_impossible()

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Drop all commands when time went back."""
        if went_back:
            self.forget()

    def forget(self, reason: str = RESET, only: str = '') -> None:
        """
        Stop the robots and drop their commands, which were for another state.

        :param only: prefix of the robot that is concerned, empty: all.
        """
        for robot in self._robots:
            if only in ('', robot.plan.prefix):
                robot.jump(reason)

    def _forget_server(self) -> None:
        self.forget('the bridge reconnected')
        for robot in self._robots:
            robot.setpoints.resets = None

    def forget_after(self, reset: Callable[[], ResultT], only: str = '') -> ResultT:
        """
        Reset by a function, and forget: nothing from before is sent after it.

        When the function raises, nothing is forgotten.

        :param only: as for `forget`.
        """
        robots = [robot for robot in self._robots if only in ('', robot.plan.prefix)]
        with self.sender.held():
            before = [robot.setpoints.resets for robot in robots]
            result = reset()
            self.forget(only=only)
            for robot, resets in zip(robots, before, strict=True):
                robot.setpoints.expect_reset(resets)
        return result

    def halt(self, reason: str) -> None:
        """Stop everything at once, and refuse commands until `resume`."""
        self._context.stop.reason = reason
        for robot in self._robots:
            robot.halt(reason)
        self.sender.release()  # a reset may hold it

    def resume(self) -> None:
        """Accept commands again."""
        self._context.stop.reason = ''

    def report(self) -> dict[str, str]:
        """Return for each robot which sources are in control, and of how many parts."""
        now_ns = self._context.now_ns
        texts = {}
        for robot in self._robots:
            held = robot.arbiter.report(now_ns)
            text = ', '.join(f'{name} ({count})' for name, count in held.items()) or 'none'
            texts[robot.plan.prefix] = self.stopped or text
        return texts

    @property
    def takeovers(self) -> int:
        """Return how often a source took control away from another."""
        return sum(robot.arbiter.takeovers for robot in self._robots)

    def statuses(self) -> Iterator[Status]:
        """Yield what was not carried out, and which source controls each robot."""
        rejections = self.rejections
        refused = sum(rejections.counts.values())
        values: dict[str, Any] = {'sent': self.sender.sent, 'refused': refused}
        for topic, count in rejections.counts.items():
            values[f'{topic} refused'] = count
            values[f'{topic} last reason'] = rejections.last[topic]
        text = f'{refused} commands were refused' if refused else 'no commands were refused'
        yield Status('commands', text, values)
        sources, stopped = self.report(), self.stopped
        values = {f'{robot} follows': text for robot, text in sources.items()}
        values['takeovers'] = self.takeovers
        text = stopped or '; '.join(f'{robot}: {text}' for robot, text in sources.items())
        yield Status('control', text or 'no robots', values, 'warning' if stopped else 'ok')

    def stop(self) -> None:
        """Stop the robots that this bridge moves, then the threads; repeated calls do nothing."""
        with self._changing:
            self._ended = True
            robots, self._robots = self._robots, ()
        for robot in robots:
            robot.stop_moving(ENDING)
            robot.close(ENDING)
        self.sender.stop()


FEATURE = Feature('commands', CommandParameters, group='Commands', attach=Commands)
