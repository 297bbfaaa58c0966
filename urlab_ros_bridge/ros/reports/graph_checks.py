# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A thread of its own for reports that read the ROS graph.

With hundreds of robots a check takes many milliseconds, which must not delay ticks.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import threading

from rclpy.node import Node

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status

CHECK_SECONDS = 2.0
# The end of the bridge waits this long for a check (s).
_STOP_SECONDS = 2.0


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
        self._context = node.context
        self._log = log
        self._checks: dict[str, tuple[Callable[[], None], Callable[[], Iterable[Status]]]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name='graph checks', daemon=True)

    def add(
        self,
        name: str,
        check: Callable[[], None],
        results: Callable[[], Iterable[Status]] = tuple,
    ) -> None:
        """
        Add a check that is made in the thread; call it before the start.

        :param results: returns what the check has found, for /diagnostics.
        """
        self._checks[name] = check, results

    def all_started(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the check that it is making."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def statuses(self) -> Iterator[Status]:
        """Yield what each check has found, or why it failed."""
        for name, (_, results) in self._checks.items():
            if problem := self.problems.get(name):
                yield Status(name, f'unknown: {problem}', {}, 'warning')
            else:
                yield from results()

    def _run(self) -> None:
        while not self._stopped.wait(CHECK_SECONDS):
            for name, (check, _) in self._checks.items():
                if self._is_over():
                    return
                self._make(name, check)

    def _make(self, name: str, check: Callable[[], None]) -> None:
        try:
            check()
        except Exception as error:
            # A graph is read no more once its context is shut down: that is no problem.
            if self._is_over():
                return
            problem = f'{type(error).__name__}: {error}'
            # The next check may succeed: continue, and log this once.
            if self.problems.get(name) != problem:
                self.problems[name] = problem
                self._log('warning', f'check of the ROS graph for {name} failed: {problem}')
        else:
            self.problems.pop(name, None)

    def _is_over(self) -> bool:
        return self._stopped.is_set() or not self._context.ok()


def attach(bridge: Bridge) -> Part:
    """Make the thread, which features that come later give checks to."""
    return GraphChecks(bridge.node, bridge.log)


FEATURE = Feature('checks of the ROS graph', attach=attach)


__all__ = ['CHECK_SECONDS', 'FEATURE', 'GraphChecks']
