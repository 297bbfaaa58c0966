# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Streams through shared memory: waiting for the next payload of a region, and reopening it.

The region of a world ends with its world, and the directory with its server.  A new world's region
has the same name; a new server's directory has another one, which only its handshake contains.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
import math
import os
from pathlib import Path
import threading
import time
from typing import Generic
from typing import Self
from typing import TypeVar

from urlab_ros_bridge.transport.errors import StreamClosed
from urlab_ros_bridge.transport.errors import StreamEnded
from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.client import ServerLock
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.sockets import is_local
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

T = TypeVar('T')
# A handshake's `shm_session_dir`, or a function that returns the one of the latest handshake.
Directory = str | Path | Callable[[], str]
_CHECK = 0.1  # s between two checks whether the region is still the server's
_SLICE = 0.1  # s; the longest sleep
_POLL = 1e-3  # s; of a stock server, which does not ring


class RegionSource:
    """
    The reader of one file in a session directory.

    Not thread-safe, except `wake`.
    """

    def __init__(self, directory: Directory, name: str) -> None:
        """
        Open the region.

        :param directory: with a function, a server's restart is survived as soon as the function
            returns the new directory.
        :param name: of the file.
        :raises RegionUnavailable: when it cannot be opened.
        :raises MalformedRegion: when it is not a region.
        """
        self._directory, self._name = directory, name
        self._reader: RegionReader | None = None
        self._lock: ServerLock | None = None
        self._next_check = 0.0
        self._open(self._path())

    @property
    def path(self) -> Path:
        """The file that is read, or would be if it were there."""
        return self._path()

    def current(self) -> RegionReader | None:
        """
        Return the reader, None while there is no region.

        :raises StreamEnded: when there will never be one again.
        """
        reader = self._reader
        if reader is not None and reader.pending:
            return reader
        now = time.monotonic()
        if now >= self._next_check:
            self._next_check = now + _CHECK
            if reader is not None and self._has_ended(reader):
                self._drop()
            if self._reader is None:
                self._find()
        return self._reader

    def wait(self, seconds: float) -> None:
        """Sleep until something may have been written, at most this long."""
        reader = self._reader
        if reader is None:
            time.sleep(min(seconds, _CHECK))
        elif reader.is_woken:
            reader.sleep(min(seconds, _SLICE))
            if not reader.pending:
                # A timeout, or the server rang because it has removed the file.
                self._next_check = 0.0
        else:
            time.sleep(min(seconds, _POLL))

    def wake(self) -> None:
        """End a `wait` of another thread soon."""
        reader = self._reader
        if reader is not None and reader.region.fd >= 0:
            reader.region.futex.wake()

    def close(self) -> None:
        """Unmap."""
        self._drop()

    def _path(self) -> Path:
        directory = self._directory() if callable(self._directory) else self._directory
        return Path(directory, self._name)

    def _open(self, path: Path) -> None:
        if not path.is_absolute():
            raise RegionUnavailable(path, 'the server offers no shared memory')
        # Writable: a sleeping reader sets a flag in the header.
        region = Region.open(path, writable=True)
        self._reader, self._lock = RegionReader(region), ServerLock(path.parent)

    def _drop(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._lock is not None:
            self._lock.close()
        self._reader = self._lock = None

    def _has_ended(self, reader: RegionReader) -> bool:
        """Return whether the world of the region or its server has ended."""
        return reader.region.stale() or (self._lock is not None and self._lock.is_released)

    def _find(self) -> None:
        path = self._path()
        try:
            self._open(path)
        except (RegionUnavailable, MalformedRegion) as error:
            if not callable(self._directory) and not _is_running(path.parent):
                raise StreamEnded(f'shm:{path}') from error


class RegionStream(Generic[T]):
    """
    The newest payload of a region, once, as soon as it is written.

    `receive` may run in one thread while another one closes.
    """

    def __init__(self, directory: Directory, name: str) -> None:
        """Open the region, see `RegionSource`."""
        self._source = RegionSource(directory, name)
        self._lock = threading.Lock()
        self._closed = False
        self._last: tuple[RegionReader | None, int] = (None, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def endpoint(self) -> str:
        """The file, for messages."""
        return f'shm:{self._source.path}'

    def receive(self, timeout: float | None = None) -> T | None:
        """
        Return the newest payload that was not returned yet, None when none came in time.

        :param timeout: seconds; 0 only polls, None waits forever.
        :raises StreamClosed: after `close`, also when it is called while this waits.
        :raises StreamEnded: when the server has ended and no new one is known.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._lock:
            while True:
                if self._closed:
                    self._source.close()
                    raise StreamClosed(self.endpoint)
                reader = self._source.current()
                found = None if reader is None else self._read(reader)
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._source.wait(left)

    def close(self) -> None:
        """Unmap; a `receive` that waits in another thread raises `StreamClosed`."""
        self._closed = True
        self._source.wake()
        if self._lock.acquire(timeout=1.0):
            self._source.close()
            self._lock.release()

    @abstractmethod
    def _read(self, reader: RegionReader) -> T | None:
        """Return the decoded payload; None when there is none, or it is damaged."""

    def _count(self, reader: RegionReader) -> int:
        """Record that a payload was read; return how many before it were not."""
        last, sequence = self._last
        self._last = (reader, reader.sequence)
        advance = reader.sequence - sequence if reader is last else 1
        return max(advance - 1, 0)


def is_usable(directory: Directory, host: str) -> bool:
    """Return whether a server runs on this machine and its session directory may be entered."""
    path = directory() if callable(directory) else str(directory)
    return is_local(host) and os.path.isabs(path) and os.access(path, os.X_OK)


def _is_running(directory: Path) -> bool:
    """Return whether the server of a session directory is running and holds its lock."""
    lock = ServerLock(directory)
    try:
        return lock.is_held
    finally:
        lock.close()


__all__ = ['Directory', 'RegionStream', 'is_usable']
