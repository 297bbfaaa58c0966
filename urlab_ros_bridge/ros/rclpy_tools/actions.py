# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Action servers whose goals are ended from another thread.

rclpy runs a goal in one callback from beginning to end, which would need a thread for each goal,
or coroutines that keep an executor busy.  Here a goal only changes its state when it is accepted;
its end is handed to the executor as a task, and made at the latest when the server is withdrawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
import math
import threading
import time
from typing import Any

from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Task

# An action is withdrawn this long after its last result (s): DDS discards what a client has not
# read by then.
RESULT_SECONDS = 0.5


class Ending(Enum):
    """How a goal ends; the value is the transition of its handle."""

    SUCCEEDED = 'succeed'
    ABORTED = 'abort'
    CANCELED = 'canceled'


class DeferredActionServer(ActionServer):
    """
    An action server for goals that `finish` ends.

    :param accept: called with a goal's message: whether to accept it.
    :param start: called with the handle of an accepted goal, which is executing.
    :param cancel: called with the handle when a client cancels the goal.
    """

    def __init__(
        self,
        node: Node,
        action_type: type,
        name: str,
        *,
        accept: Callable[[Any], bool],
        start: Callable[[ServerGoalHandle], None],
        cancel: Callable[[ServerGoalHandle], None],
    ) -> None:
        self._start = start
        self._cancel = cancel
        self._ends: deque[Task] = deque()
        self._sending, self._sent_at = threading.Lock(), -math.inf
        super().__init__(
            node,
            action_type,
            name,
            self._never,
            goal_callback=lambda goal: (
                GoalResponse.ACCEPT if accept(goal) else GoalResponse.REJECT
            ),
            handle_accepted_callback=self._accepted,
            cancel_callback=self._cancelled,
        )

    def finish(self, handle: ServerGoalHandle, ending: Ending, result: Any) -> None:
        """End a goal; may be called from any thread."""

        def end(goal: ServerGoalHandle) -> Any:
            # Only a goal whose cancellation was requested may be cancelled.
            cancels = ending is Ending.CANCELED and not goal.is_cancel_requested
            getattr(goal, (Ending.ABORTED if cancels else ending).value)()
            return result

        # Later: rclpy knows that a goal is being cancelled only after `cancel` has returned.
        self._ends.append(Task(self._execute_goal, (end, handle)))
        self._node.executor.create_task(self._send_results)

    def destroy(self) -> None:
        """Withdraw the action, a moment after the results of the goals that have ended."""
        self._send_results()
        time.sleep(max(0.0, self._sent_at + RESULT_SECONDS - time.monotonic()))
        super().destroy()

    def _send_results(self) -> None:
        with self._sending:
            while self._ends:
                self._ends.popleft()()
                self._sent_at = time.monotonic()

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Run nothing: called by rclpy when the goal's state has become executing."""

    def _accepted(self, handle: ServerGoalHandle) -> None:
        handle.execute()
        self._start(handle)

    def _cancelled(self, handle: ServerGoalHandle) -> CancelResponse:
        self._cancel(handle)
        return CancelResponse.ACCEPT

    @staticmethod
    def _never(_: ServerGoalHandle) -> Any:
        raise AssertionError('goals are ended by finish()')
