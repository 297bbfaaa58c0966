# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The thread that writes a bag, and its queue.

The queue is bounded and drops nothing: a publisher that is faster than the disk has to wait.  A
bag therefore has all messages published while it was recorded, or reports that it failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
import time

from urlab_ros_bridge.ros.extras.bag.files import BagFiles
from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.wire.errors import UrlabError

LIMIT_BYTES = 128 << 20
# The writer is woken for this much, else it polls.
_WAKE_BYTES = 256 << 10
_POLL_SECONDS = 0.1
# Overhead of an entry.
_ENTRY_BYTES = 200
# Limits of a batch that the writer takes at a time.
_BATCH = 200
_BATCH_BYTES = 1 << 20

# A message with its topic and time, or a function to call between messages.
Entry = tuple[BagTopic, int, bytes] | Callable[[], None]
# A killed bridge loses at most this much (s of wall time).
FLUSH_SECONDS = 1.0
# After this many messages, which take less than a tick of 500 Hz, other threads may run.
_RUN = 50
_PAUSE_SECONDS = 0.0002


class BagQueue:
    """
    A FIFO queue for many producers and one consumer.

    :ivar waits: how often a publisher had to wait; `waited` the total time (s).
    """

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.waits = 0
        self.waited = 0.0
        self._limit = limit_bytes
        self._wake_bytes = min(_WAKE_BYTES, limit_bytes)
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._more = False
        self._closed = False
        self._changed = threading.Condition()

    def put(self, topic: BagTopic, stamp_ns: int, data: bytes) -> None:
        """Add a message; wait while the queue is full.  After `close` messages are dropped."""
        size = len(data) + _ENTRY_BYTES
        with self._changed:
            if self._bytes >= self._limit:
                self._wait()
            if self._closed:
                return
            self._entries.append((topic, stamp_ns, data))
            before, self._bytes = self._bytes, self._bytes + size
            if before < self._wake_bytes <= self._bytes:
                self._changed.notify_all()

    def do(self, task: Callable[[], None]) -> None:
        """Queue a function for the consumer to call; never waits."""
        with self._changed:
            self._entries.append(task)
            self._bytes += _ENTRY_BYTES
            self._changed.notify_all()

    def take(self) -> list[Entry]:
        """Return the oldest entries, after a timeout an empty list."""
        entries: list[Entry] = []
        with self._changed:
            if not self._more and self._bytes < self._wake_bytes:
                self._changed.wait(_POLL_SECONDS)
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
        """Clear the queue, drop further messages, and release waiting publishers."""
        with self._changed:
            self._closed = True
            self._entries.clear()
            self._changed.notify_all()

    def _wait(self) -> None:
        began = time.monotonic()
        self._changed.wait_for(lambda: self._bytes < self._limit or self._closed)
        self.waits += 1
        self.waited += time.monotonic() - began


class BagWriter:
    """
    Writes the entries of a queue to files.

    :ivar problem: reason why writing has stopped, empty while there is none.
    :ivar files: its counters may be read from any thread.
    """

    def __init__(
        self, files: BagFiles, queue: BagQueue, on_problem: Callable[[str], None]
    ) -> None:
        self.files = files
        self.problem = ''
        self._queue = queue
        self._on_problem = on_problem
        self._ending = False
        self._settled = threading.Event()
        self._thread = threading.Thread(target=self._run, name='bag', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def flush(self, timeout: float) -> None:
        """Write and flush the queued entries; wait for that, a problem, or `timeout` (s)."""
        self._settled.clear()
        self._queue.do(self._flush)
        if not self.problem:
            self._settled.wait(timeout)

    def end(self, timeout: float) -> bool:
        """Write the queued entries and close the files; return False after `timeout` (s)."""
        self._queue.do(self._end)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        flush = time.monotonic() + FLUSH_SECONDS
        while not self._ending:
            try:
                self._write(self._queue.take())
                if time.monotonic() >= flush:
                    self.files.flush()
                    flush = time.monotonic() + FLUSH_SECONDS
                if self._ending:
                    self.files.close()
            except (OSError, UrlabError) as error:
                self._failed(str(error))
                return
            except Exception as error:  # publishing must never wait for this thread
                self._failed(f'{type(error).__name__}: {error}')
                return

    def _write(self, entries: list[Entry]) -> None:
        for number, entry in enumerate(entries):
            if callable(entry):
                entry()
            else:
                self.files.write(*entry)
            if number % _RUN == _RUN - 1:
                time.sleep(_PAUSE_SECONDS)

    def _flush(self) -> None:
        self.files.flush()
        self._settled.set()

    def _end(self) -> None:
        self._ending = True

    def _failed(self, text: str) -> None:
        self.problem = f'{self.files.folder}: {text}'
        self._queue.close()
        self.files.abandon()
        self._on_problem(self.problem)
        self._settled.set()
