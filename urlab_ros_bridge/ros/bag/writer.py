# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread that writes one bag."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from urlab_ros_bridge.ros.bag.queue import BagQueue
from urlab_ros_bridge.ros.bag.queue import Entry
from urlab_ros_bridge.ros.bag.storage.files import BagFiles
from urlab_ros_bridge.wire.errors import UrlabError

# A killed bridge loses at most what was recorded for so long (s of wall time).
FLUSH_SECONDS = 1.0
# So many messages hold the interpreter's lock for less than a tick of 500 Hz, which then may pass.
_RUN = 50
_PAUSE_SECONDS = 0.0002


class BagWriter:
    """
    Takes entries from the queue to the files.

    :ivar problem: why it writes no more, empty while all is well.
    :ivar files: read its counters from any thread.
    """

    def __init__(
        self, files: BagFiles, queue: BagQueue, on_problem: Callable[[str], None]
    ) -> None:
        self.files = files
        self.problem = ''
        self._queue = queue
        self._on_problem = on_problem
        self._ending = False
        self._thread = threading.Thread(target=self._run, name='bag', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self, timeout: float) -> bool:
        """Write what waits, end the files, and return whether that was done in time (s)."""
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
            except Exception as error:  # whatever it is, publishing must not wait for this thread
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

    def _end(self) -> None:
        self._ending = True

    def _failed(self, text: str) -> None:
        self.problem = f'{self.files.folder}: {text}'
        self._queue.close()
        self.files.abandon()
        self._on_problem(self.problem)


__all__ = ['FLUSH_SECONDS', 'BagWriter']
