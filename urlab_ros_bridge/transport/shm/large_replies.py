# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Replies that did not fit into shared memory, kept for the client's second try.

A client that gets `reply_too_large` sends the same request over ZMQ.  The op was carried out
already, and a step must not be done twice: the repetition gets the reply that was kept.
"""

from __future__ import annotations

import threading
import time

from urlab_ros_bridge.transport.shm.region import RPC_STRIDE

KEPT_SECONDS = 5.0
MAX_KEPT = 4
_MAX_BYTES = 256 * 1024 * 1024


class LargeReplies:
    """
    A few replies by the exact bytes of their requests; thread-safe.

    :ivar empty: there are none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[bytes, tuple[float, bytes]] = {}
        self.empty = True

    def keep(self, frame: bytes, reply: bytes) -> None:
        """Keep a reply for a moment; of too many the oldest goes."""
        if len(reply) > _MAX_BYTES:
            return
        with self._lock:
            self._kept.pop(frame, None)
            while len(self._kept) >= MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[frame] = (time.monotonic() + KEPT_SECONDS, reply)
            self.empty = False

    def take(self, frame: bytes) -> bytes | None:
        """Hand out the reply to a repeated request, once; None when there is none."""
        if self.empty or len(frame) > RPC_STRIDE:  # which never came through a region
            return None
        now = time.monotonic()
        with self._lock:
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > now}
            found = self._kept.pop(frame, None)
            self.empty = not self._kept
        return None if found is None else found[1]


__all__ = ['LargeReplies']
