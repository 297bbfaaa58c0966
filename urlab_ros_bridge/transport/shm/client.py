# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One request, one reply, through a pair of shared-memory regions.

The bundled server answers each request under its number, so a late reply is never taken for
another one's.  A stock server's replies have no number.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import time

from urlab_ros_bridge.transport.errors import ConnectionLost
from urlab_ros_bridge.transport.errors import NotConnected
from urlab_ros_bridge.transport.errors import RequestTimeout
from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.access import RegionWriter
from urlab_ros_bridge.transport.shm.directory import LOCK_FILE
from urlab_ros_bridge.transport.shm.directory import reply_file
from urlab_ros_bridge.transport.shm.directory import request_file
from urlab_ros_bridge.transport.shm.region import Region

# Longer than most steps take: for those, sleeping would cost more than it saves.
SPIN_SECONDS = 8e-4
# How often a waiting request checks the server's lock, and whether the client was closed.
_SLICE = 0.1
_POLL, _SLOWEST_POLL = 5e-5, 1e-3  # for servers that do not ring


class ServerLock:
    """
    The lock that the bundled server holds in its session directory as long as its process lives.

    A stock server has none; its end is not noticed.
    """

    def __init__(self, directory: Path) -> None:
        try:
            self._fd = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            self._fd = -1

    @property
    def is_held(self) -> bool:
        """Whether a process holds it."""
        if self._fd < 0:
            return False
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    @property
    def is_released(self) -> bool:
        """Whether the server has ended."""
        return self._fd >= 0 and not self.is_held

    def close(self) -> None:
        """Close the lock file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class ShmRequester:
    """
    A pair of regions that the server has made.  Not thread-safe, except `cancel`.

    :ivar capacity: bytes that a request may have.
    :ivar is_numbered: replies name the request that they answer.
    """

    def __init__(self, directory: Path, name: str = '') -> None:
        """
        Open both regions.

        :param directory: the handshake's `shm_session_dir`.
        :param name: of the pair, '' for the one that stock servers have.
        :raises RegionUnavailable: when they cannot be opened, or there is no memory for requests.
        :raises MalformedRegion: when they are not regions.
        """
        self.endpoint = f'shm:{directory}'
        requests = Region.open(request_file(directory, name), writable=True)
        self._requests = RegionWriter(requests)
        try:
            requests.fill()  # a stock server may have reserved nothing
            replies = Region.open(reply_file(directory, name), writable=True)
        except Exception:
            requests.close()
            raise
        self._replies = RegionReader(replies)
        self._spin_wait = self._replies.spin_wait(SPIN_SECONDS)
        self._lock = ServerLock(directory)
        self._cancelled = False
        self.capacity = requests.capacity
        self.is_numbered = requests.tagged and replies.tagged

    @property
    def is_alive(self) -> bool:
        """Whether the server still runs, as far as its lock shows."""
        return not self._lock.is_released

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply.

        :param op: for error messages.
        :param timeout: seconds.
        :raises RequestTimeout: when no reply arrived in time.
        :raises ConnectionLost: when the server ended while waiting.
        :raises FrameTooLarge: when the frame has more than `capacity` bytes; nothing was sent.
        :raises MalformedRegion: when the reply's header makes no sense.
        """
        self._replies.skip()
        number = self._requests.sequence + 1
        self._requests.write(frame, number)
        reply = self._read_reply(number) if self._spin_wait.spin() else None
        return self._wait(op, number, timeout) if reply is None else reply

    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""
        self._cancelled = True

    def close(self) -> None:
        """Unmap both regions; the server removes a pair that is this client's own."""
        self._requests.close()
        self._replies.close()
        self._lock.close()

    def _read_reply(self, number: int) -> bytes | None:
        """Return the reply to a request if it is there."""
        reply = self._replies.read()
        return reply if not self.is_numbered or self._replies.tag == number else None

    def _wait(self, op: str, number: int, timeout: float) -> bytes:
        """Sleep until a reply arrives that takes longer than spinning."""
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
                if not self.is_alive:
                    raise ConnectionLost(op, self.endpoint)
            if replies.is_woken and not replies.pending:
                replies.sleep(max(0.0, min(_SLICE, began + timeout - now)), alone=True)
            else:
                time.sleep(poll)
                poll = min(1.2 * poll, _SLOWEST_POLL)
            now = time.monotonic()
