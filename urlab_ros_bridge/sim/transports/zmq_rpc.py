# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Request/reply over ZMQ.

A ROUTER socket speaks to stock REQ clients and lets the server answer out of order.  Quick calls
run on the receiving thread, which saves two thread switches; a call that is estimated slow, or
that finds the model busy, moves to a worker, so that nobody's hello waits for somebody else's
long step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
import logging
import os
import threading
import time

import zmq

from urlab_ros_bridge.sim.dispatcher import Call
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.dispatcher import error_frame
from urlab_ros_bridge.wire import codec

QUICK_SECONDS = 0.002  # a call that takes longer, or waits longer for the model, goes to a worker
LOOK_OUT_SECONDS = 1.5e-4
WORKERS = 8
MAX_PENDING = 256  # calls that may wait for a worker; more are answered not_ready
_WAKE_ENDPOINT = 'inproc://rpc-wake'
_GIVE_WAY = getattr(os, 'sched_yield', partial(time.sleep, 0))
_MORE = zmq.SNDMORE | zmq.NOBLOCK
_READABLE = int(zmq.POLLIN)
_LOG = logging.getLogger(__name__)


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
        dispatcher: Dispatcher,
        eager: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Prepare the thread.

        :param eager: says whether the next request is likely to follow at once, so that a short
            look-out for it pays.
        """
        super().__init__(name='zmq-rpc', daemon=True)
        self._socket = socket
        self._dispatcher = dispatcher
        self._eager = eager
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix='rpc-worker')
        self._done: deque[list[bytes]] = deque()
        self._pending = 0
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
                self._look_out()
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
        self._workers.shutdown(wait=True)
        self._send_done()
        self._socket.close(linger=200)

    def _look_out(self) -> None:
        """
        Look for the next request for a moment before going to sleep.

        A client that steps comes back at once, and waking a sleeping thread costs more than the
        look-out: a third of a round trip (bench/step_rate.py).  ZeroMQ's own threads need a core
        meanwhile, so each look gives way to them.
        """
        get, clock, give_way = self._socket.get, time.perf_counter, _GIVE_WAY
        deadline = clock() + LOOK_OUT_SECONDS
        while clock() < deadline:
            if get(zmq.EVENTS) & _READABLE:
                return
            give_way()

    def _drop_rest(self) -> None:
        while self._socket.getsockopt(zmq.RCVMORE):
            self._socket.recv()

    def _receive_odd(self, parts: list[bytes]) -> None:
        """Take a message whose envelope is not that of a REQ socket: it may be longer."""
        while self._socket.getsockopt(zmq.RCVMORE):
            parts.append(self._socket.recv())
        try:
            body = parts.index(b'', 1) + 1
        except ValueError:
            body = len(parts)
        if body >= len(parts):
            _LOG.debug('dropped a message that is no request')
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
            _LOG.exception('a request broke the transport; it goes on')
            self._reply(envelope, error_frame('internal_error', '', None))

    def _serve(self, envelope: list[bytes], frame: bytes) -> None:
        accepted = self._dispatcher.accept(frame)
        if isinstance(accepted, bytes):
            self._reply(envelope, accepted)
            return
        if accepted.seconds <= QUICK_SECONDS:
            reply = self._dispatcher.run(accepted, timeout=QUICK_SECONDS)
            if reply is not None:
                self._reply(envelope, reply)
                return
        if self._pending >= MAX_PENDING:
            self._reply(
                envelope,
                codec.pack(
                    {
                        'op': 'error',
                        'code': 'not_ready',
                        'message': f'{MAX_PENDING} calls are waiting already',
                    },
                    accepted.session.encoding,
                ),
            )
            return
        self._pending += 1
        self._workers.submit(self._work, envelope, accepted)

    def _work(self, envelope: list[bytes], call: Call) -> None:
        self._done.append([*envelope, self._dispatcher.run(call)])
        self._wake()

    def _send_done(self) -> None:
        while self._done:
            self._pending -= 1
            parts = self._done.popleft()
            self._reply(parts[:-1], parts[-1])

    def _reply(self, envelope: list[bytes], frame: bytes) -> None:
        try:
            for part in envelope:
                self._socket.send(part, _MORE)
            self._socket.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError as error:
            _LOG.debug('dropped a reply: %s', error)

    def _wake(self) -> None:
        # Nobody is left to wake when the thread has just ended by itself.
        with self._wake_lock, suppress(zmq.Again):
            self._wake_out.send(b'', zmq.NOBLOCK)
