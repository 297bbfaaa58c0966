# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Requests that wait for something, while the thread of their services answers others.

A callback that waits keeps its executor from everything else.  Here a request that has to wait is
a coroutine, which the executor leaves alone until it may go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
import time
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread

_CLOSE_SECONDS = 1.0


class HeldRequests:
    """
    Services whose requests wait together, and go on one by one in the order in which they came.

    `recheck` and `close` may be called from any thread.
    """

    def __init__(self, side: SideThread, may_go_on: Callable[[], bool], seconds: float) -> None:
        """
        Prepare to hold requests; none are held yet.

        :param side: the thread of the services, which is not started yet.
        :param may_go_on: whether there is nothing to wait for.
        :param seconds: a request goes on after this long in any case.
        """
        self._side = side
        self._may_go_on = may_go_on
        self._seconds = seconds
        # In a group of the other kind, the first that waits would keep back the rest.
        self._group = ReentrantCallbackGroup()
        self._held: deque[tuple[float, Future]] = deque()  # deadline, done when it may go on
        self._none_held = threading.Event()
        self._none_held.set()
        self._closed = False
        side.call_regularly(self._release_first)

    def create_service(
        self, service_type: type, name: str, answer: Callable[[Any, Any], Any]
    ) -> None:
        """Offer a service; `answer` is called with a request that may go on and its response."""

        async def hold(request: Any, response: Any) -> Any:
            released = Future()
            self._none_held.clear()
            self._held.append((time.monotonic() + self._seconds, released))
            self._release_first()
            await released
            try:
                return answer(request, response)
            finally:
                self._held.popleft()
                if not self._held:
                    self._none_held.set()
                self._release_first()

        self._side.node.create_service(service_type, name, hold, callback_group=self._group)

    def recheck(self) -> None:
        """Let requests go on that may now; whatever changes that calls this."""
        if self._held:
            self._side.run(self._release_first)

    def close(self) -> None:
        """Let all requests go on, now and later, and wait a moment for those that were held."""
        self._closed = True
        self.recheck()
        self._none_held.wait(_CLOSE_SECONDS)

    def _release_first(self) -> None:
        """Let the oldest request go on, if it may; its answer gives the next one its turn."""
        if not self._held:
            return
        deadline, released = self._held[0]
        if not released.done() and (
            self._closed or self._may_go_on() or time.monotonic() >= deadline
        ):
            released.set_result(None)


__all__ = ['HeldRequests']
