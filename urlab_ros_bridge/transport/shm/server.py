# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Request/reply through two shared-memory regions, and which regions clients have open.

The client writes a request into one region and waits for the other one to change.  One request is
in flight; of several written at once only the latest is seen (as stock servers have it).  A client
of this project wakes the server when it has written, so the server sleeps until then.  A stock
client only writes, so it is polled every 200 us while it is active, more rarely when it is not,
and never when no client has the region open.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import logging
import threading
import time

from urlab_ros_bridge.scheduling.thread_timing import ask_for_short_slices
from urlab_ros_bridge.scheduling.thread_timing import sleep_precisely
from urlab_ros_bridge.transport.router import Accept
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import REQUEST_STRIDE
from urlab_ros_bridge.wire.encoding.codec import pack_error
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

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


FIRST_FILL = 1 << 16  # bytes of replies that have memory at once, so that errors always fit
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
        """Return the reply to a repeated request, once; None when there is none."""
        if self.empty or len(frame) > REQUEST_STRIDE:  # which never came through a region
            return None
        now = time.monotonic()
        with self._lock:
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > now}
            found = self._kept.pop(frame, None)
            self.empty = not self._kept
        return None if found is None else found[1]


SPIN_SECONDS = 2e-4
# Seconds without a request -> seconds between two polls of a region whose client does not ring.
POLL = ((1.0, 2e-4), (2.0, 1e-3), (float('inf'), 1e-2))
LONG_SLEEP = 0.5


class RegionServer(threading.Thread):
    """Serves one pair of regions that this process has made."""

    def __init__(
        self,
        accept: Accept,
        requests: Region,
        replies: Region,
        large: LargeReplies,
        watched: Callable[[], bool],
        has_ended: Callable[[], bool] | None = None,
    ) -> None:
        """
        Prepare the thread; it closes and removes both regions when it ends.

        :param large: keeps replies that do not fit, for the repetition over ZMQ.
        :param watched: returns whether a client has `requests` open.
        :param has_ended: for a pair of one client that wakes the server: returns whether the
            client has ended, which ends the thread.
        """
        super().__init__(name=f'shm-rpc-{requests.path.stem}', daemon=True)
        self._accept = accept
        self._reader = RegionReader(requests)
        self._writer = RegionWriter(replies)
        self._large = large
        self._watched = watched
        self._has_ended = has_ended
        self._spin_wait = self._reader.spin_wait(SPIN_SECONDS)
        self._last_active = time.monotonic()
        self._was_woken = has_ended is not None
        self._stopping = False

    def run(self) -> None:
        """Serve until `stop`, or until the client has ended."""
        ask_for_short_slices()
        sleep_precisely()
        while not self._stopping:
            try:
                if not self._spin_wait.spin() and self._sleep():
                    break
                self._serve()
            except Exception:
                _LOG.exception('a request raised an error in the transport, which continues')
                time.sleep(0.01)
        self._writer.close(unlink=True)
        self._reader.region.path.unlink(missing_ok=True)
        self._reader.close()

    def opened(self, is_open: bool) -> None:
        """
        Note that a client has opened the requests, or that none has them open any more.

        Called from another thread.
        """
        if is_open:
            self._last_active = time.monotonic()
            self._was_woken = False
            self._reader.region.futex.wake()

    def stop(self) -> None:
        """End after a running call has answered.  Call after the engine began draining."""
        self._stopping = True
        deadline = time.monotonic() + 10.0
        # A ring just before the thread goes to sleep is lost, so it rings again.
        while self.is_alive() and time.monotonic() < deadline:
            self._reader.region.futex.wake()
            self.join(timeout=0.02)

    def _sleep(self) -> bool:
        """Sleep until a write or a stop may have happened; return whether the client has ended."""
        reader = self._reader
        idle = time.monotonic() - self._last_active
        if self._has_ended and idle > LONG_SLEEP and self._has_ended():
            return True
        if (self._was_woken and reader.is_woken) or not self._watched():
            pause = LONG_SLEEP
        else:
            pause = next(pause for limit, pause in POLL if idle < limit)
        reader.sleep(pause, alone=True)
        return False

    def _serve(self) -> None:
        reader = self._reader
        if not reader.pending or self._stopping:
            return
        try:
            frame = reader.read()
        except MalformedRegion as error:
            self._repair()
            self._writer.write(pack_error('bad_request', str(error)), reader.sequence)
            return
        if frame is None:
            # It is being written, or the header makes no sense: poll rarely.
            time.sleep(POLL[0][1])
            return
        self._was_woken = 0 < reader.tag == reader.sequence  # a stock client writes no tags
        accepted = self._accept(frame)
        reply = accepted if isinstance(accepted, bytes) else accepted.run()
        self._writer.write(self._fitting(frame, reply), reader.sequence)
        self._last_active = time.monotonic()

    def _repair(self) -> None:
        for region in (self._reader.region, self._writer.region):
            if region.fd >= 0:
                region.repair()

    def _fitting(self, frame: bytes, reply: bytes) -> bytes:
        """Return the reply, or an error in its place when it is too large for the region."""
        region, size = self._writer.region, len(reply)
        if region.filled < size <= region.capacity:
            with suppress(RegionUnavailable):  # there is no room
                region.fill(min(max(size, 2 * region.filled), region.capacity))
        if size <= region.filled:
            return reply
        self._large.keep(frame, reply)
        text = f'the reply has {size} bytes, {region.filled} fit; repeat the request over ZMQ'
        return pack_error('reply_too_large', text, 'json' if reply[:1] == b'{' else 'msgpack')
