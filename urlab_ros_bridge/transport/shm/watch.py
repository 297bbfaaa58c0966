# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which files of the session directory clients have open.

A stock client opens the regions and reads without notice, so the files are checked a few times a
second: nothing is written without readers, and headers that a client has damaged are repaired.  A
file counts as open until the last descriptor and mapping of another process are gone, also when
that process was killed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import logging
import threading

from urlab_ros_bridge.transport.shm.region import Region

POLL_SECONDS = 0.05
_LOG = logging.getLogger(__name__)


class OpenWatch(threading.Thread):
    """Watches regions that this process has made."""

    def __init__(self) -> None:
        super().__init__(name='shm-watch', daemon=True)
        self._watched: dict[Region, Callable[[bool], None]] = {}
        self._open: set[Region] = set()
        self._lock = threading.Lock()
        self._ending = threading.Event()

    def add(self, region: Region, report: Callable[[bool], None] = lambda is_open: None) -> None:
        """
        Watch a region.

        :param report: called on the watching thread with true when a client has opened it, and
            with false when none has it open any more.
        """
        with self._lock:
            self._watched[region] = report

    def remove(self, region: Region) -> None:
        """Forget a region; call it before the region is closed."""
        with self._lock:
            self._watched.pop(region, None)
            self._open.discard(region)

    def is_open(self, region: Region) -> bool:
        """Return whether another process has a region open."""
        return region in self._open

    def run(self) -> None:
        """Watch until `close`."""
        while not self._ending.wait(POLL_SECONDS):
            with self._lock:
                for region, report in list(self._watched.items()):
                    self._look(region, report)

    def close(self) -> None:
        """End the thread."""
        self._ending.set()
        if self.is_alive():
            self.join(timeout=5.0)

    def _look(self, region: Region, report: Callable[[bool], None]) -> None:
        if region.fd < 0:
            del self._watched[region]
            return
        with suppress(ValueError):  # it is being closed
            region.repair()
        is_open = region.shared()
        if is_open == (region in self._open):
            return
        (self._open.add if is_open else self._open.discard)(region)
        try:
            report(is_open)
        except Exception:
            _LOG.exception('%s: its readers were not notified of a change', region.name)


__all__ = ['OpenWatch']
