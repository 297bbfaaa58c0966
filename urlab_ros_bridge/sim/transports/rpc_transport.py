# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which thread runs a received request: what the transports over ZeroMQ share.

Quick calls run on the receiving thread, which saves two thread switches; a call that is estimated
slow, or that finds the model busy, moves to a worker, so that no hello waits for another client's
long step.  Calls that only wait, such as a step of a paused world, have workers of their own: as
many of them as there are clients may wait without holding up those that have something to do.
A frame that takes long to decode is decoded by the `FrameDecoder`.
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
import logging
import math
import threading
from typing import Any
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.sim.transports.dispatcher import Call
from urlab_ros_bridge.sim.transports.dispatcher import error_frame
from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding
from urlab_ros_bridge.sim.transports.dispatcher import RequestRunner
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder

QUICK_SECONDS = 0.002  # a call that takes longer, or waits longer for the model, goes to a worker
# A client that steps comes back at once; to be woken costs a third of a round trip
# (bench/step_rate.py).
SPIN_SECONDS = 1.5e-4
WORKERS = 8
MAX_PENDING = 256  # calls that may have or wait for a worker; more are answered not_ready
MAX_WAITING = 128  # likewise, calls that wait for an event; each holds a thread
_LOG = logging.getLogger(__name__)
Envelope = TypeVar('Envelope')


class _WorkerPool:
    """
    Threads for calls of one kind; they are started when they are needed first.

    :ivar limit: how many calls there may be at a time.
    :ivar pending: how many there are; used by the transport's thread only.
    """

    def __init__(self, threads: int, limit: int, name: str) -> None:
        self.limit = limit
        self.pending = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[..., None], *arguments: Any) -> bool:
        """Let a thread do something; false when there are too many calls already."""
        if self.pending >= self.limit:
            return False
        self.pending += 1
        self._pool.submit(work, *arguments)
        return True

    def end(self) -> None:
        """Wait until everything is done."""
        self._pool.shutdown(wait=True)


class RpcTransport(threading.Thread, ABC, Generic[Envelope]):
    """
    A thread that receives requests and sends replies; an envelope says where a reply goes.

    Everything but `_hand_over` belongs to this thread.
    """

    def __init__(self, dispatcher: RequestRunner, reader: FrameDecoder) -> None:
        """
        Prepare the thread.

        :param reader: finishes frames that take long to decode.
        """
        super().__init__(name='zmq-rpc', daemon=True)
        self._dispatcher = dispatcher
        self._reader = reader
        self._workers = _WorkerPool(WORKERS, MAX_PENDING, 'rpc-worker')
        self._waiters = _WorkerPool(MAX_WAITING, MAX_WAITING, 'rpc-waiter')
        self._done: deque[Callable[[], None]] = deque()
        self._stopping = threading.Event()

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """Return the address that is bound, as ``tcp://127.0.0.1:5559``."""

    def stop(self) -> None:
        """Let running calls answer, then close.  Call after the engine began draining."""
        self._stopping.set()
        self._wake()
        self.join(timeout=10.0)

    @abstractmethod
    def _reply(self, envelope: Envelope, frame: bytes) -> None:
        """Send a reply without waiting; one whose sender is gone is dropped."""

    @abstractmethod
    def _wake(self) -> None:
        """Have the thread call `_send_done`; from any thread."""

    @abstractmethod
    def _owner(self, envelope: Envelope) -> Hashable:
        """Return what stands for the sender."""

    def _end_calls(self) -> None:
        """Wait until all calls have answered."""
        self._workers.end()
        self._waiters.end()
        self._send_done()

    def _answer(self, envelope: Envelope, frame: bytes) -> None:
        try:
            reply = self._dispatcher.repeat(frame, QUICK_SECONDS)
            if reply is None:
                self._accept_frame(envelope, frame)
            else:
                self._reply(envelope, reply)
        except Exception:
            _LOG.exception('a request raised an error in the transport, which continues')
            self._reply(envelope, error_frame('internal_error', '', None))

    def _accept_frame(self, envelope: Envelope, frame: bytes) -> None:
        accepted = self._dispatcher.accept(frame)
        if isinstance(accepted, FrameDecoding):
            refused = self._reader.submit(
                self._owner(envelope),
                accepted,
                partial(self._hand_over, self._run_or_defer, envelope),
            )
            if refused is not None:
                self._reply(envelope, refused)
        else:
            self._run_or_defer(envelope, accepted)

    def _run_or_defer(self, envelope: Envelope, accepted: bytes | Call) -> None:
        """Run a call here if it is quick, else let a worker do it."""
        if isinstance(accepted, bytes):
            self._reply(envelope, accepted)
            return
        if accepted.seconds <= QUICK_SECONDS:
            reply = self._dispatcher.try_to_run(accepted, QUICK_SECONDS)
            if reply is not None:
                self._reply(envelope, reply)
                return
        pool = self._waiters if accepted.seconds == math.inf else self._workers
        if not pool.submit(self._run_on_worker, pool, envelope, accepted):
            message = f'{pool.limit} requests are already waiting; repeat the request later'
            self._reply(envelope, error_frame('not_ready', message, accepted.session))

    def _run_on_worker(self, pool: _WorkerPool, envelope: Envelope, call: Call) -> None:
        self._hand_over(self._send_result, pool, envelope, self._dispatcher.run(call))

    def _send_result(self, pool: _WorkerPool, envelope: Envelope, reply: bytes) -> None:
        pool.pending -= 1
        self._reply(envelope, reply)

    def _hand_over(self, work: Callable[..., None], *arguments: Any) -> None:
        """Let the transport's thread do something; called from other threads."""
        self._done.append(partial(work, *arguments))
        self._wake()

    def _send_done(self) -> None:
        while self._done:
            work = self._done.popleft()
            try:
                work()
            except Exception:
                _LOG.exception('a request raised an error in the transport, which continues')


__all__ = ['RpcTransport']
