# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One request, one reply, through a pair of shared-memory regions.

The bundled server answers each request under its number, so a late reply is never taken for
another one's.  A stock server's replies have no number: after a timeout its pair rests until the
late reply has come.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import time

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.files import LOCK_FILE
from urlab_ros_bridge.transport.shm.files import reply_file
from urlab_ros_bridge.transport.shm.files import request_file
from urlab_ros_bridge.transport.shm.region import Region

# Longer than most steps take: for those, sleeping would cost more than it saves.
SPIN_SECONDS = 3e-4
# How often a waiting request looks whether the server is gone, or the client was closed.
_SLICE = 0.1
_POLL, _SLOWEST_POLL = 5e-5, 1e-3  # for servers that do not ring


class ShmRpc:
    """
    A pair of regions that the server has made.  Not thread-safe, except `cancel`.

    :ivar numbered: replies name the request that they answer.
    """

    def __init__(self, directory: Path, name: str = '') -> None:
        """
        Open both regions.

        :param directory: the handshake's `shm_session_dir`.
        :param name: of the pair, '' for the one that stock servers have.
        :raises RegionUnavailable: when they cannot be opened.
        :raises MalformedRegion: when they are not regions.
        """
        self.endpoint = f'shm:{directory}'
        requests = Region.open(request_file(directory, name), writable=True)
        self._requests = RegionWriter(requests)
        try:
            replies = Region.open(reply_file(directory, name), writable=True)
        except Exception:
            requests.close()
            raise
        self._replies = RegionReader(replies)
        self._spin_wait = self._replies.spin_wait(SPIN_SECONDS)
        self._life = ServerLife(directory, requests)
        self._late = False
        self._cancelled = False
        self.capacity = requests.capacity
        self.numbered = requests.tagged and replies.tagged

    @property
    def ready(self) -> bool:
        """Whether the next reply would be that of the next request."""
        if self._late and self._replies.pending:
            self._late = False
        return self.numbered or not self._late

    @property
    def alive(self) -> bool:
        """Whether the server still runs, as far as the files show."""
        return self._life.goes_on()

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply.

        :param op: for error messages.
        :param timeout: seconds.
        :raises RequestTimeout: when no reply came in time.
        :raises ConnectionLost: when the server ended while waiting.
        :raises FrameTooLarge: when the frame has more than `capacity` bytes; nothing was sent.
        :raises MalformedRegion: when the reply's header makes no sense.
        """
        self._replies.skip()
        number = self._requests.sequence + 1
        self._requests.write(frame, number)
        self._late = True
        reply = self._read_reply(number) if self._spin_wait.spin() else None
        if reply is None:
            reply = self._wait(op, number, timeout)
        self._late = False
        return reply

    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""
        self._cancelled = True

    def close(self) -> None:
        """Unmap both regions; the server removes a pair that is this client's own."""
        self._requests.close()
        self._replies.close()
        self._life.close()

    def _read_reply(self, number: int) -> bytes | None:
        """Return the reply to a request if it is there."""
        reply = self._replies.read()
        return reply if not self.numbered or self._replies.tag == number else None

    def _wait(self, op: str, number: int, timeout: float) -> bytes:
        """Wait asleep for a reply that takes longer than a look."""
        replies = self._replies
        began = now = time.monotonic()
        next_check, poll = began + _SLICE, _POLL
        while True:
            reply = self._read_reply(number)
            if reply is not None:
                return reply
            if self._cancelled:
                raise NotConnected(op)
            if now >= began + timeout:
                raise RequestTimeout(op, self.endpoint, timeout)
            if now >= next_check:
                next_check = now + _SLICE
                if not self.alive:
                    raise ConnectionLost(op, self.endpoint)
            if replies.rings and not replies.pending:
                replies.sleep(max(0.0, min(_SLICE, began + timeout - now)), alone=True)
            else:
                time.sleep(poll)
                poll = min(1.2 * poll, _SLOWEST_POLL)
            now = time.monotonic()


class ServerLife:
    """
    Whether the server that made a directory is running.

    The bundled server holds a lock in its directory as long as it lives.  Of a stock server, only
    the end of its files is noticed.
    """

    def __init__(self, directory: Path, region: Region | None = None) -> None:
        self._region = region
        try:
            self._fd = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            self._fd = -1

    @property
    def locked(self) -> bool:
        """Whether there is a lock, and a process holds it."""
        if self._fd < 0:
            return False
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    def goes_on(self) -> bool:
        """Return whether the server lives and its region is in use."""
        if self._region is not None and self._region.stale():
            return False
        return self._fd < 0 or self.locked

    def close(self) -> None:
        """Close the lock file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


__all__ = ['ServerLife', 'ShmRpc']
