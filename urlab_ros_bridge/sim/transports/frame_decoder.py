# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One thread that decodes large frames for all transports, a little of each in turn.

Decoding needs no lock, but it needs the interpreter, which the threads that step and answer need
too.  So it is done in short steps with longer pauses between them, and never two frames at a time.
Of many large frames each gets its turn, and no client may have many: one that floods the server
with them delays others that do so a little, and no other client.
"""

from __future__ import annotations

from collections import Counter
from collections import deque
from collections.abc import Callable
from collections.abc import Hashable
from dataclasses import dataclass
import logging
import threading
import time

from urlab_ros_bridge.sim.transports.dispatcher import Call
from urlab_ros_bridge.sim.transports.dispatcher import Dispatcher
from urlab_ros_bridge.sim.transports.dispatcher import error_frame
from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding

MAX_READINGS = 64  # frames that may wait, and
MAX_BYTES = 64 << 20  # their sum; more are answered not_ready
MAX_OF_ONE = 4  # frames of one client
REST = 4.0  # times as long as a step computed: others have four fifths of the interpreter
SHORTEST_REST = 5e-5  # s
_LOG = logging.getLogger(__name__)
Done = Callable[[bytes | Call], None]


@dataclass(slots=True)
class _Job:
    owner: Hashable
    reading: FrameDecoding
    done: Done


class FrameDecoder:
    """
    Finishes readings; thread-safe.  Its thread starts with the first one.

    :ivar steps: how many steps were done so far.
    """

    def __init__(self, dispatcher: Dispatcher, rest: Callable[[float], None] = time.sleep) -> None:
        """
        Prepare.

        :param rest: sleeps so many seconds.
        """
        self._dispatcher = dispatcher
        self._rest = rest
        self._jobs: deque[_Job] = deque()
        self._owners: Counter[Hashable] = Counter()
        self._bytes = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self.steps = 0

    def submit(self, owner: Hashable, reading: FrameDecoding, done: Done) -> bytes | None:
        """
        Read a frame in the background; `done` gets the reply or the call.

        :param owner: its sender.
        :return: the reply in case that too many frames wait already; `done` is not called then.
        """
        size = len(reading.frame)
        with self._changed:
            if self._stopping:
                return error_frame('shutting_down', '', None)
            if self._owners[owner] >= MAX_OF_ONE:
                return _too_many(f'{MAX_OF_ONE} large requests of this client')
            if len(self._jobs) >= MAX_READINGS or self._bytes + size > MAX_BYTES:
                return _too_many(f'{len(self._jobs)} large requests of {self._bytes} bytes')
            self._owners[owner] += 1
            self._bytes += size
            self._jobs.append(_Job(owner, reading, done))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name='frame-decoder', daemon=True
                )
                self._thread.start()
            self._changed.notify()
        return None

    def stop(self) -> None:
        """Answer shutting_down to what waits, and end."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=10.0)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._jobs and not self._stopping:
                    self._changed.wait()
                if not self._jobs:
                    return
                job = self._jobs[0]
            began = time.thread_time()
            if self._stopping:
                self._end(job, error_frame('shutting_down', '', None))
                continue
            accepted = self._dispatcher.read_on(job.reading)
            self.steps += 1
            if isinstance(accepted, FrameDecoding):
                with self._changed:
                    self._jobs.rotate(-1)
            else:
                self._end(job, accepted)
            del job, accepted  # freeing what was decoded is part of the work
            self._rest(max(SHORTEST_REST, REST * (time.thread_time() - began)))

    def _end(self, job: _Job, result: bytes | Call) -> None:
        with self._changed:
            self._jobs.popleft()  # only this thread moves the first one
            self._bytes -= len(job.reading.frame)
            self._owners[job.owner] -= 1
            if not self._owners[job.owner]:
                del self._owners[job.owner]
        try:
            job.done(result)
        except Exception:
            _LOG.exception('a request raised an error in the transport, which continues')


def _too_many(what: str) -> bytes:
    return error_frame(
        'not_ready', f'{what} are already being decoded; repeat the request later', None
    )


__all__ = ['FrameDecoder']
