# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Requests that wait for something, while the thread of their services answers others.

A callback that waits keeps its executor from everything else.  Here a request that has to wait is
a coroutine, which the executor leaves alone until it may go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import inspect
import threading
import time
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread

_CLOSE_SECONDS = 1.0


@dataclass
class _Wait:
    """What a request waits for, and until when (monotonic s) at most."""

    condition: Callable[[], bool]
    deadline: float
    over: Future = field(default_factory=Future)


class HeldRequests:
    """
    Services whose requests wait together, and are handled in the order in which they came.

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
        self._turns: deque[Future] = deque()  # of requests; the first has its turn
        self._wait: _Wait | None = None  # of the first: no other one waits but for its turn
        self._none_held = threading.Event()
        self._none_held.set()
        self._closed = False
        side.call_regularly(self._check)

    def create_service(
        self, service_type: type, name: str, answer: Callable[[Any, Any], Any | Awaitable[Any]]
    ) -> None:
        """
        Offer a service.

        :param answer: takes a request that may go on, and its response; a coroutine may wait with
            `wait_for`.
        """

        async def hold(request: Any, response: Any) -> Any:
            deadline = time.monotonic() + self._seconds
            turn = Future()
            self._none_held.clear()
            self._turns.append(turn)
            if len(self._turns) > 1:
                await turn
            try:
                await self._wait_until(self._may_go_on, deadline)
                answered = answer(request, response)
                return await answered if inspect.isawaitable(answered) else answered
            finally:
                self._turns.popleft()
                if self._turns:
                    self._turns[0].set_result(None)
                else:
                    self._none_held.set()

        self._side.node.create_service(service_type, name, hold, callback_group=self._group)

    async def wait_for(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait, in the answer to a request, until something holds; others are answered."""
        await self._wait_until(condition, time.monotonic() + seconds)

    async def give_way(self) -> bool:
        """
        Let other requests be answered, in the middle of a long answer; those that wait still do.

        :return: whether to go on; false when the service is to end.
        """
        over = Future()
        # The executor takes what has come meanwhile together with this task, or before it.
        self._side.run(lambda: over.set_result(None))
        await over
        return not self._closed

    def recheck(self) -> None:
        """Let a request go on that may now; whatever changes that calls this."""
        if self._wait is not None:
            self._side.run(self._check)

    def close(self) -> None:
        """Let all requests go on, now and later, and wait a moment for those that were held."""
        self._closed = True
        self.recheck()
        self._none_held.wait(_CLOSE_SECONDS)

    async def _wait_until(self, condition: Callable[[], bool], deadline: float) -> None:
        wait = self._wait = _Wait(condition, deadline)
        self._check()
        await wait.over

    def _check(self) -> None:
        """Let the request that waits go on, if it may."""
        wait = self._wait
        if wait is not None and (
            self._closed or wait.condition() or time.monotonic() >= wait.deadline
        ):
            self._wait = None
            wait.over.set_result(None)


__all__ = ['HeldRequests']
