# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The queue of messages that wait to be written to disk.

It is bounded, and nothing is ever left out of it: a publisher faster than the disk has to
wait.  So a bag holds all that was published while it was written, or says that it failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
import time

from urlab_ros_bridge.ros.bag.storage.topic import BagTopic

LIMIT_BYTES = 128 << 20
# The writer is woken for so much; else it looks by itself.
_WORTH_BYTES = 256 << 10
_WAIT_SECONDS = 0.1
# What an entry costs beside its bytes.
_ENTRY_BYTES = 200
# So many are taken at a time, which is quick, and makes room bit by bit.
_BATCH = 200
_BATCH_BYTES = 1 << 20

# A message of a topic with its time, or something that is to be done between messages.
Entry = tuple[BagTopic, int, bytes] | Callable[[], None]


class BagQueue:
    """
    Entries in their order; any thread puts, one takes.

    :ivar waits: how often a publisher had to wait, and `waited` for how long altogether (s).
    """

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.waits = 0
        self.waited = 0.0
        self._limit = limit_bytes
        self._worth = min(_WORTH_BYTES, limit_bytes)
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._more = False
        self._closed = False
        self._changed = threading.Condition()

    def put(self, topic: BagTopic, stamp_ns: int, data: bytes) -> None:
        """Add a message, once there is room for it; after `close` it is left out."""
        size = len(data) + _ENTRY_BYTES
        with self._changed:
            if self._bytes >= self._limit:
                self._wait()
            if self._closed:
                return
            self._entries.append((topic, stamp_ns, data))
            before, self._bytes = self._bytes, self._bytes + size
            if before < self._worth <= self._bytes:
                self._changed.notify_all()

    def do(self, task: Callable[[], None]) -> None:
        """Have something done after all messages so far; it never waits."""
        with self._changed:
            self._entries.append(task)
            self._bytes += _ENTRY_BYTES
            self._changed.notify_all()

    def take(self) -> list[Entry]:
        """Return the oldest entries; nothing when none has come for a while."""
        entries: list[Entry] = []
        with self._changed:
            if not self._more and self._bytes < self._worth:
                self._changed.wait(_WAIT_SECONDS)
            full, size = self._bytes >= self._limit, 0
            while self._entries and len(entries) < _BATCH and size < _BATCH_BYTES:
                entry = self._entries.popleft()
                entries.append(entry)
                size += _ENTRY_BYTES + (0 if callable(entry) else len(entry[2]))
            self._bytes -= size
            self._more = bool(self._entries)
            if full:
                self._changed.notify_all()
        return entries

    def close(self) -> None:
        """Forget what waits, take no more messages, and release all waiting publishers."""
        with self._changed:
            self._closed = True
            self._entries.clear()
            self._changed.notify_all()

    def _wait(self) -> None:
        began = time.monotonic()
        self._changed.wait_for(lambda: self._bytes < self._limit or self._closed)
        self.waits += 1
        self.waited += time.monotonic() - began


__all__ = ['LIMIT_BYTES', 'BagQueue', 'Entry']
