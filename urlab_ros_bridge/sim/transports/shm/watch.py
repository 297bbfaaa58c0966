# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which files of the session directory clients have open.

A stock client opens the regions and reads without notice.  inotify(7) reports openings, so
nothing is written without readers and an idle server does not poll.  It reports closings too, but
merges equal events, so they are only a reason to look again (`Region.shared`): a file counts as
open until the last descriptor and mapping are gone, also when their process was killed.
"""

from __future__ import annotations

from collections.abc import Callable
import ctypes
import logging
import os
from pathlib import Path
import select
import struct
import sys
import threading

from urlab_ros_bridge.transport.shm.region import Region

_OPEN, _CLOSE, _OVERFLOW, _IGNORED = 0x20, 0x8 | 0x10, 0x4000, 0x8000
_QUIET_MS = 50
_EVENT = struct.Struct('=iIII')
_LOG = logging.getLogger(__name__)


class OpenWatch(threading.Thread):
    """
    Watches regions that this process has made in one directory.

    :ivar blind: inotify does not work here, so every file counts as open.
    """

    def __init__(self, directory: Path) -> None:
        """Prepare the thread; what it sees before `start` it handles then."""
        super().__init__(name='shm-watch', daemon=True)
        self._regions: dict[str, Region] = {}
        self._callbacks: dict[str, Callable[[bool], None]] = {}
        self._open: set[str] = set()
        self._fd = self._watch = -1
        if sys.platform == 'linux':
            self._libc = ctypes.CDLL(None)
            self._fd = self._libc.inotify_init1(os.O_CLOEXEC)
        if self._fd >= 0:
            self._watch = self._libc.inotify_add_watch(self._fd, bytes(directory), _OPEN | _CLOSE)
        self.blind = self._watch < 0
        if self.blind:
            _LOG.info('inotify does not work here: shared memory is also written without readers')

    def add(self, region: Region, report: Callable[[bool], None] = lambda is_open: None) -> None:
        """
        Watch a region; it replaces one of the same name.

        :param report: called with true whenever a client opens it, and with false when none has
            it open any more; on the watching thread.
        """
        name = region.name
        self._regions[name] = region
        self._callbacks[name] = report
        self._refresh(name)

    def remove(self, region: Region) -> None:
        """Forget a region; call it before the region is closed."""
        name = region.name
        if self._regions.get(name) is region:
            del self._regions[name], self._callbacks[name]
            self._open.discard(name)

    def is_open(self, region: Region) -> bool:
        """Return whether any other process, or a reader in this one, has a watched region open."""
        return self.blind or region.name in self._open

    def run(self) -> None:
        """Watch until `close`."""
        poll, wait = select.poll(), None
        if not self.blind:
            poll.register(self._fd, select.POLLIN)
        while not self.blind:
            if not poll.poll(wait):
                # A closing is reported just before it is done.
                for name in list(self._open):
                    self._refresh(name)
                wait = None
                continue
            wait = _QUIET_MS
            events = os.read(self._fd, 4096)
            at = 0
            while at < len(events):
                _, mask, _, size = _EVENT.unpack_from(events, at)
                at += _EVENT.size + size
                if mask & _IGNORED:
                    return
                self._handle_event(mask, os.fsdecode(events[at - size : at].rstrip(b'\0')))

    def close(self) -> None:
        """End the thread."""
        if self._watch >= 0:
            self._libc.inotify_rm_watch(self._fd, self._watch)
            self._watch = -1
            if self.is_alive():
                self.join(timeout=5.0)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _handle_event(self, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            for known in list(self._regions):
                self._refresh(known)
        elif name in self._regions:
            if mask & _OPEN:
                self._open.add(name)
                self._report(name, True)
            else:
                self._refresh(name)

    def _refresh(self, name: str) -> None:
        region = self._regions.get(name)
        if region is not None and region.shared():
            self._open.add(name)
        elif name in self._open:
            self._open.discard(name)
            self._report(name, False)

    def _report(self, name: str, is_open: bool) -> None:
        report = self._callbacks.get(name)
        if report is not None:
            try:
                report(is_open)
            except Exception:
                _LOG.exception('%s: its readers were not notified of a change', name)


__all__ = ['OpenWatch']
