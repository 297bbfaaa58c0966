# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which answer belongs to which request: by type, and in order."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections import deque
from typing import Any
from typing import TypeAlias

from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame

Answer: TypeAlias = tuple[dict[str, Any], memoryview]


class Waiting:
    """
    Requests that are not answered yet.

    The wire has no request numbers.  A server answers the requests of a connection in order, so
    an answer belongs to the oldest request of its type.  A request that was given up keeps its
    place: its late answer is dropped instead of being taken for that of the next one.

    :ivar dropped: answers that were not waited for.
    """

    def __init__(self) -> None:
        self._queues: dict[str, deque[asyncio.Future[Answer]]] = defaultdict(deque)
        self.dropped = 0

    def expect(self, kind: str) -> asyncio.Future[Answer]:
        """Return the future of the next answer of a type that is not taken."""
        future = asyncio.get_running_loop().create_future()
        self._queues[kind].append(future)
        return future

    def feed(self, message: bytes) -> None:
        """
        Give an answer to whom it belongs.

        :raises MalformedMessage: when it is not a message.
        """
        header, payload = split_frame(message)
        queue = self._queues.get(message_type(header))
        future = queue.popleft() if queue else None
        if future is None or future.done():
            self.dropped += 1
        else:
            future.set_result((header, payload))

    def fail(self, error: Exception) -> bool:
        """Let every waiting request fail; return whether there was one."""
        was_heard = False
        for queue in self._queues.values():
            for future in queue:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # the waiter may have gone
                    was_heard = True
            queue.clear()
        return was_heard
