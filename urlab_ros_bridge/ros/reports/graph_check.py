# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the ROS graph, by timers in the executor: in the stream they would delay ticks."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
from typing import TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status

CHECK_SECONDS = 2.0


Endpoint = TypeVar('Endpoint', Publisher, Subscription)


def with_topics(endpoints: Iterable[Endpoint]) -> Iterator[tuple[Endpoint, str]]:
    """Yield each with its topic (resolved name), without those that another thread destroys."""
    for each in list(endpoints):
        with contextlib.suppress(InvalidHandle):
            yield each, each.topic_name


class GraphCheck(Part):
    """
    A check that is repeated every `CHECK_SECONDS` while the bridge runs.

    :cvar name: of its entry in /diagnostics.
    :ivar problem: why the last one failed, empty when it did not.
    """

    name = ''

    def __init__(self, node: Node, log: Callable[[str, str], None]) -> None:
        """
        Prepare.

        :param log: takes a severity (info, warning) and a text.
        """
        self.problem = ''
        self._node = node
        self._log = log
        self._timer: Timer | None = None

    def check(self) -> None:
        """Read the graph."""
        raise NotImplementedError

    def results(self) -> Iterable[Status]:
        """Return what the last check has found."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the timer."""
        self._timer = self._node.create_timer(CHECK_SECONDS, self.run)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def run(self) -> None:
        """Check; a failure is logged once, until a check succeeds again."""
        try:
            self.check()
            problem = ''
        except Exception as error:
            # The graph of a context that is shut down cannot be read: that is no problem.
            if not self._node.context.ok():
                return
            problem = f'{type(error).__name__}: {error}'
            if problem != self.problem:
                self._log('warning', f'check of the ROS graph for {self.name} failed: {problem}')
        self.problem = problem

    def statuses(self) -> Iterator[Status]:
        """Yield what the check has found, or why it failed."""
        if self.problem:
            yield Status(self.name, f'unknown: {self.problem}', {}, 'warning')
        else:
            yield from self.results()
