# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Request/reply over ZMQ.

A ROUTER socket speaks to stock REQ clients and lets the server answer out of order.  Quick calls
run on the receiving thread, which saves two thread switches; a call that is estimated slow, or
that finds the model busy, moves to a worker, so that no hello waits for another client's
long step.  Calls that only wait, such as a step of a paused world, have workers of their own: as
many of them as there are clients may wait without holding up those that have something to do.
A frame that takes long to decode is decoded by the `FrameDecoder`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
import logging
import math
import os
import threading
from typing import Any

import zmq

from urlab_ros_bridge.sim.requests.sockets import disconnect_sender
from urlab_ros_bridge.sim.requests.sockets import readable
from urlab_ros_bridge.sim.transports.dispatcher import Call
from urlab_ros_bridge.sim.transports.dispatcher import error_frame
from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding
from urlab_ros_bridge.sim.transports.dispatcher import RequestRunner
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder
from urlab_ros_bridge.wire.spin_wait import SpinWait

QUICK_SECONDS = 0.002  # a call that takes longer, or waits longer for the model, goes to a worker
# A client that steps comes back at once; to be woken costs a third of a round trip
# (bench/step_rate.py).
SPIN_SECONDS = 1.5e-4
WORKERS = 8
MAX_PENDING = 256  # calls that may have or wait for a worker; more are answered not_ready
MAX_PARTS = 256  # of a message; the rest is dropped
MAX_WAITING = 128  # likewise, calls that wait for an event; each holds a thread
_WAKE_ENDPOINT = 'inproc://rpc-wake'
_MORE = zmq.SNDMORE | zmq.NOBLOCK
_MORE_PARTS = int(zmq.RCVMORE)

_LOG = logging.getLogger(__name__)


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


class ZmqRpcTransport(threading.Thread):
    """
    Serves one ROUTER socket.

    The socket is also bound inside the process: a worker that has finished sends a wake-up there.
    So the thread waits in one blocking receive, which is cheaper than a poll before each request.
    """

    def __init__(
        self,
        context: zmq.Context,
        socket: zmq.Socket,
        dispatcher: RequestRunner,
        reader: FrameDecoder,
        eager: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Prepare the thread.

        :param reader: finishes frames that take long to decode.
        :param eager: returns whether the next request is likely to follow at once, so that
            spinning for it may pay.
        """
        super().__init__(name='zmq-rpc', daemon=True)
        self._socket = socket
        self._dispatcher = dispatcher
        self._reader = reader
        self._eager = eager
        self._spin_wait = SpinWait(lambda: readable(socket), SPIN_SECONDS)
        self._workers = _WorkerPool(WORKERS, MAX_PENDING, 'rpc-worker')
        self._waiters = _WorkerPool(MAX_WAITING, MAX_WAITING, 'rpc-waiter')
        self._done: deque[Callable[[], None]] = deque()
        # Random, so that no client can take the waker's place.
        self._wake_identity = b'\x01' + os.urandom(16)
        socket.bind(_WAKE_ENDPOINT)
        self._wake_out = context.socket(zmq.DEALER)
        self._wake_out.setsockopt(zmq.IDENTITY, self._wake_identity)
        self._wake_out.setsockopt(zmq.LINGER, 0)
        self._wake_out.connect(_WAKE_ENDPOINT)
        self._wake_lock = threading.Lock()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Serve until `stop`."""
        socket = self._socket
        while not self._stopping.is_set():
            if self._eager():
                self._spin_wait.spin()
            identity = socket.recv()
            if identity == self._wake_identity:
                socket.recv()
                self._send_done()
                continue
            second = socket.recv()
            if second == b'' and socket.getsockopt(zmq.RCVMORE):
                # A stock server reads only the first part of the body; the rest is dropped after
                # the reply is on its way.
                self._answer([identity, b''], socket.recv())
                self._drop_rest()
            else:
                self._receive_odd([identity, second])
        self._workers.end()
        self._waiters.end()
        self._send_done()
        self._socket.close(linger=200)

    def _drop_rest(self) -> None:
        """
        Drop the parts that are left of a message.

        libzmq gives out no other message before the last part, and has no limit for their number.
        So a client that sends very many delays the requests of others, by about a microsecond a
        part: replies continue, and the connection is closed, for there will be more.
        """
        if not self._socket.get(_MORE_PARTS):
            return
        receive, dropped = self._socket.recv, 1
        frame = receive(copy=False)
        while frame.more:
            frame = receive(copy=False)
            dropped += 1
            if dropped % MAX_PARTS == 0:
                self._send_done()
        if dropped >= MAX_PARTS:
            _LOG.warning('closed a connection: it sent a message of %d parts too many', dropped)
            disconnect_sender(frame)

    def _receive_odd(self, parts: list[bytes]) -> None:
        """Take a message whose envelope is not that of a REQ socket: it may be longer."""
        while len(parts) < MAX_PARTS and self._socket.getsockopt(zmq.RCVMORE):
            parts.append(self._socket.recv())
        self._drop_rest()
        try:
            body = parts.index(b'', 1) + 1
        except ValueError:
            body = len(parts)
        if body >= len(parts):
            _LOG.debug('dropped a message that is not a request')
            return
        self._answer(parts[:body], parts[body])

    def stop(self) -> None:
        """Let running calls answer, then close.  Call after the engine began draining."""
        self._stopping.set()
        self._wake()
        self.join(timeout=10.0)
        self._wake_out.close()

    def _answer(self, envelope: list[bytes], frame: bytes) -> None:
        try:
            self._serve(envelope, frame)
        except Exception:
            _LOG.exception('a request raised in the transport; it continues')
            self._reply(envelope, error_frame('internal_error', '', None))

    def _serve(self, envelope: list[bytes], frame: bytes) -> None:
        accepted = self._dispatcher.accept(frame)
        if isinstance(accepted, FrameDecoding):
            refused = self._reader.submit(
                envelope[0], accepted, partial(self._hand_over, self._go_on, envelope)
            )
            if refused is not None:
                self._reply(envelope, refused)
        else:
            self._go_on(envelope, accepted)

    def _go_on(self, envelope: list[bytes], accepted: bytes | Call) -> None:
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
        if not pool.submit(self._work, pool, envelope, accepted):
            message = f'{pool.limit} calls are waiting already'
            self._reply(envelope, error_frame('not_ready', message, accepted.session))

    def _work(self, pool: _WorkerPool, envelope: list[bytes], call: Call) -> None:
        self._hand_over(self._end_work, pool, envelope, self._dispatcher.run(call))

    def _end_work(self, pool: _WorkerPool, envelope: list[bytes], reply: bytes) -> None:
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
                _LOG.exception('a request raised in the transport; it continues')

    def _reply(self, envelope: list[bytes], frame: bytes) -> None:
        try:
            for part in envelope:
                self._socket.send(part, _MORE)
            self._socket.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError as error:
            _LOG.debug('dropped a reply: %s', error)

    def _wake(self) -> None:
        # There is no thread to wake when it has just ended by itself.
        with self._wake_lock, suppress(zmq.Again):
            self._wake_out.send(b'', zmq.NOBLOCK)
