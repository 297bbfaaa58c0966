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
import logging
import os
from pathlib import Path
import time
from typing import TypeVar

from urlab_ros_bridge.transport.errors import StreamEnded
from urlab_ros_bridge.transport.link import TRANSPORTS
from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.client import ServerLock
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.sockets import is_local
from urlab_ros_bridge.transport.stream import Stream
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import UnknownName

T = TypeVar('T')
Here = TypeVar('Here')
There = TypeVar('There')
# A handshake's `shm_session_dir`, or a function that returns the one of the latest handshake.
Directory = str | Path | Callable[[], str]
_CHECK = 0.1  # s between two checks whether the region is still the server's
_SLICE = 0.1  # s; the longest sleep
_POLL = 1e-3  # s; of a stock server, which does not ring
_LOG = logging.getLogger(__name__)


class RegionStream(Stream[T]):
    """
    The newest payload of a region, once, as soon as it is written.

    The region is one file in a session directory.
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
        self._server: ServerLock | None = None
        self._next_check = 0.0
        self._last: tuple[RegionReader | None, int] = (None, 0)
        super().__init__(f'shm:{self._path()}')
        self._open(self._path())

    @abstractmethod
    def _read(self, reader: RegionReader) -> T | None:
        """Return the decoded payload; None when there is none, or it is damaged."""

    def _count(self, reader: RegionReader) -> int:
        """Record that a payload was read; return how many before it were not."""
        last, sequence = self._last
        self._last = (reader, reader.sequence)
        advance = reader.sequence - sequence if reader is last else 1
        return max(advance - 1, 0)

    def _next(self) -> T | None:
        reader = self._current_reader()
        return None if reader is None else self._read(reader)

    def _current_reader(self) -> RegionReader | None:
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
                self._close_source()
            if self._reader is None:
                self._find()
        return self._reader

    def _wait(self, seconds: float) -> None:
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

    def _wake(self) -> None:
        reader = self._reader
        if reader is not None and reader.region.fd >= 0:
            reader.region.futex.wake()

    def _close_source(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._server is not None:
            self._server.close()
        self._reader = self._server = None

    def _path(self) -> Path:
        directory = self._directory() if callable(self._directory) else self._directory
        return Path(directory, self._name)

    def _open(self, path: Path) -> None:
        if not path.is_absolute():
            raise RegionUnavailable(path, 'the server offers no shared memory')
        # Writable: a sleeping reader sets a flag in the header.
        region = Region.open(path, writable=True)
        self._reader, self._server = RegionReader(region), ServerLock(path.parent)
        self.endpoint = f'shm:{path}'

    def _has_ended(self, reader: RegionReader) -> bool:
        """Return whether the world of the region or its server has ended."""
        return reader.region.stale() or (self._server is not None and self._server.is_released)

    def _find(self) -> None:
        path = self._path()
        try:
            self._open(path)
        except (RegionUnavailable, MalformedRegion) as error:
            if not callable(self._directory) and not _is_running(path.parent):
                raise StreamEnded(f'shm:{path}') from error


def open_stream(
    transport: str,
    directory: Directory,
    host: str,
    through_region: Callable[[], Here],
    over_zmq: Callable[[], There],
) -> Here | There:
    """
    Open a stream through shared memory or over ZeroMQ.

    :param transport: ``zmq``, ``shm``, or ``auto``: shared memory when the server is here.
    :raises RegionUnavailable: with ``shm``, when there is none.
    :raises MalformedRegion: with ``shm``, when it makes no sense.
    :raises UnknownName: for another transport.
    """
    if transport not in TRANSPORTS:
        raise UnknownName('transport', transport, TRANSPORTS)
    if transport == 'shm' or (transport == 'auto' and _is_usable(directory, host)):
        try:
            return through_region()
        except (RegionUnavailable, MalformedRegion) as error:
            if transport == 'shm':
                raise
            _LOG.info('received over ZeroMQ: %s', error)
    return over_zmq()


def _is_usable(directory: Directory, host: str) -> bool:
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
