# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the ROS graph, by a timer in the executor: in the stream they would delay ticks."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

from rclpy.node import Node
from rclpy.timer import Timer

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status

CHECK_SECONDS = 2.0


class GraphChecks(Part):
    """
    Makes checks once every `CHECK_SECONDS` while the bridge runs.

    :ivar problems: name of a check -> why the last one failed.
    """

    def __init__(self, node: Node, log: Callable[[str, str], None]) -> None:
        """
        Start without any.

        :param log: takes a severity (info, warning) and a text.
        """
        self.problems: dict[str, str] = {}
        self._node = node
        self._log = log
        self._checks: dict[str, tuple[Callable[[], None], Callable[[], Iterable[Status]]]] = {}
        self._timer: Timer | None = None

    def add(
        self,
        name: str,
        check: Callable[[], None],
        results: Callable[[], Iterable[Status]] = tuple,
    ) -> None:
        """
        Add a check, which is called in the executor.

        :param results: returns what the check has found, for /diagnostics.
        """
        self._checks[name] = check, results

    def start(self) -> None:
        """Start the timer."""
        self._timer = self._node.create_timer(CHECK_SECONDS, self.make)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def make(self) -> None:
        """Make all checks; one that fails is logged once, until it succeeds again."""
        for name, (check, _) in self._checks.items():
            try:
                check()
            except Exception as error:
                # A graph is read no more once its context is shut down: that is no problem.
                if not self._node.context.ok():
                    return
                problem = f'{type(error).__name__}: {error}'
                if self.problems.get(name) != problem:
                    self.problems[name] = problem
                    self._log('warning', f'check of the ROS graph for {name} failed: {problem}')
            else:
                self.problems.pop(name, None)

    def statuses(self) -> Iterator[Status]:
        """Yield what each check has found, or why it failed."""
        for name, (_, results) in self._checks.items():
            if problem := self.problems.get(name):
                yield Status(name, f'unknown: {problem}', {}, 'warning')
            else:
                yield from results()


def attach(bridge: Bridge) -> Part:
    """Make the checks, which features that come later add to."""
    return GraphChecks(bridge.node, bridge.log)


FEATURE = Feature('checks of the ROS graph', attach=attach)
