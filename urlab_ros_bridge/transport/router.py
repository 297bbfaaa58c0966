# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Requests and replies over a ROUTER socket.

One thread receives, runs quick calls and sends all replies.  A call that is estimated slow, or
that finds the model busy, moves to a worker, so that no hello waits for another client's long
step.  Workers may wait: for the model, whose lock says who is next, or for a paused world.
"""

from __future__ import annotations

from collections import Counter
from collections import deque
from collections.abc import Callable
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
import logging
import os
import threading
from typing import Any
from typing import Protocol

import zmq

from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.scheduling.spin_wait import SpinWait
from urlab_ros_bridge.scheduling.thread_timing import ask_for_short_slices
from urlab_ros_bridge.transport.peer_connection import descriptor_of
from urlab_ros_bridge.transport.peer_connection import PeerConnection
from urlab_ros_bridge.transport.server_sockets import bound_endpoint
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketLimits
from urlab_ros_bridge.transport.sockets import readable
from urlab_ros_bridge.wire.encoding.codec import pack_error
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import ERROR_CODES

QUICK_SECONDS = 0.002  # a call that takes longer, or waits longer for the model, goes to a worker
# A client that steps comes back at once; to be woken costs a third of a round trip
# (bench/step_rate.py).
SPIN_SECONDS = 1.5e-4
MAX_CALLS = 128  # that run or wait; more are refused, but for urgent ones
MAX_CALLS_OF_ONE = 32  # likewise, of one session
MAX_URGENT = 64
MAX_UNREAD_BYTES = 256 << 20  # of large replies that clients have not read, all together
MAX_PARTS = 256  # of a message; one that has more ends its connection
_LARGE = 1 << 16  # bytes; large replies are sent without a copy and counted until they have left
MAX_UNFINISHED_BYTES = 16 << 20  # of all clients together
MAX_SECONDS = 30.0  # that a message may take
_LIMITS = SocketLimits(
    MAX_REQUEST_BYTES,
    send_queue=64,
    receive_queue=8,
    held_bytes=MAX_UNFINISHED_BYTES,
    held_seconds=MAX_SECONDS,
)
_WAKE_ENDPOINT = 'inproc://rpc-wake'
_MORE = zmq.SNDMORE | zmq.NOBLOCK
_LOG = logging.getLogger(__name__)


class Call(Protocol):
    """
    A request that was accepted and has to be run.

    :ivar seconds: an estimate of how long it takes; math.inf when it may wait for an event.
    :ivar urgent: it stops or pauses something: it is never refused for lack of a worker.
    :ivar session_key: names the session whose call it is.
    """

    @property
    def seconds(self) -> float: ...

    @property
    def urgent(self) -> bool: ...

    @property
    def session_key(self) -> Hashable: ...

    def run(self) -> bytes:
        """Wait for the model, run the call and return the reply."""

    def try_to_run(self, timeout: float) -> bytes | None:
        """Run the call; None when the model is not free within `timeout` seconds."""

    def refuse(self, code: str, message: str) -> bytes:
        """Return an error reply in place of running the call."""


# Returns the reply to a request if it is known already, else the call; never raises.
Accept = Callable[[bytes], bytes | Call]


@dataclass(slots=True)
class _Sender:
    """
    Where a reply goes.

    :ivar envelope: the parts before the request, with the empty one.
    :ivar request: the part that knows its connection.
    """

    envelope: list[bytes]
    request: zmq.Frame


@dataclass(slots=True)
class _Unread:
    """A large reply on its way to a client."""

    tracker: zmq.MessageTracker
    size: int
    client: bytes
    connection: PeerConnection | None


class Router(threading.Thread):
    """
    Serves one ROUTER socket; all but `stop` and `_call_soon` belongs to its thread.

    The socket is also bound inside the process: a worker that has finished sends a wake-up there.
    So the thread waits in one blocking receive, which is cheaper than a poll before each request.
    """

    def __init__(self, sockets: ServerSockets, host: str, port: int, option: str) -> None:
        """
        Bind; requests wait until `serve`.

        :raises SocketInUse: when the address cannot be bound.
        """
        super().__init__(name='rpc', daemon=True)
        self._socket = socket = sockets.bind(zmq.ROUTER, host, port, option, _LIMITS, _prepare)
        self._finish = sockets.finish_of(socket)
        self.endpoint = bound_endpoint(socket)
        # Random, so that no client can take the place of the workers.
        self._wake_identity = b'\x01' + os.urandom(16)
        socket.bind(_WAKE_ENDPOINT)
        self._sockets = sockets
        self._wake_out: zmq.Socket[bytes] | None = None
        self._wake_lock = threading.Lock()
        self._spin_wait = SpinWait(lambda: readable(socket), SPIN_SECONDS)
        self._accept: Accept = lambda frame: b''
        self._expects_more: Callable[[], bool] = lambda: False
        self._workers = ThreadPoolExecutor(MAX_CALLS + MAX_URGENT, thread_name_prefix='rpc-worker')
        self._calls: Counter[Hashable] = Counter()
        self._running = 0
        self._unread: list[_Unread] = []
        self._done: deque[Callable[[], None]] = deque()
        self._stopping = threading.Event()
        self._log = LimitedLog(_LOG)

    def serve(self, accept: Accept, expects_more: Callable[[], bool] = lambda: False) -> None:
        """
        Answer requests from now on.

        :param expects_more: returns whether the next request is likely to follow at once, so that
            spinning for it may pay.
        """
        self._accept, self._expects_more = accept, expects_more
        self._wake_out = self._sockets.connect_inside(_WAKE_ENDPOINT, self._wake_identity)
        self.start()

    def run(self) -> None:
        """Serve until `stop`."""
        ask_for_short_slices()
        while not self._stopping.is_set():
            if self._expects_more():
                self._spin_wait.spin()
            self._receive()
        self._workers.shutdown(wait=True)
        self._run_done()

    def stop(self) -> None:
        """End after running calls have answered.  Call after the engine began draining."""
        self._stopping.set()
        self._wake()
        self.join(timeout=10.0)

    def _receive(self) -> None:
        """Receive a message and answer it, if it is a request."""
        socket = self._socket
        identity = socket.recv()
        if identity == self._wake_identity:
            socket.recv()
            self._run_done()
            return
        part: zmq.Frame = socket.recv(copy=False)
        envelope = [identity]
        # The envelope ends with an empty part; that of a REQ socket is nothing else.
        while len(part) and part.more and len(envelope) < MAX_PARTS:
            envelope.append(part.bytes)
            part = socket.recv(copy=False)
        if len(part) or not part.more:
            self._drop_rest(part)
            _LOG.debug('dropped a message that is not a request')
            return
        envelope.append(b'')
        request: zmq.Frame = socket.recv(copy=False)
        self._finish(descriptor_of(request))
        # A stock server reads only the first part of the body; the rest is dropped.
        self._answer(_Sender(envelope, request), request.bytes)
        self._drop_rest(request)

    def _drop_rest(self, part: zmq.Frame) -> None:
        """
        Drop the parts that are left of a message.

        libzmq gives out no other message before the last part, and has no limit for their number.
        So a client that sends very many delays the requests of others, by about a microsecond a
        part: replies continue, and the connection is closed, for there will be more.
        """
        dropped = 0
        while part.more:
            part = self._socket.recv(copy=False)
            dropped += 1
            if dropped % MAX_PARTS == 0:
                self._run_done()
        if dropped >= MAX_PARTS:
            self._log.warning('closed a connection: a message had %d parts too many', dropped)
            connection = PeerConnection.of(part)
            if connection is not None:
                connection.end()

    def _answer(self, sender: _Sender, frame: bytes) -> None:
        try:
            accepted = self._accept(frame)
            if isinstance(accepted, bytes):
                self._reply(sender, accepted)
            else:
                self._run_or_hand_over(sender, accepted)
        except Exception:
            _LOG.exception('a request raised an error in the transport, which continues')
            self._reply(sender, pack_error('internal_error', ERROR_CODES['internal_error']))

    def _run_or_hand_over(self, sender: _Sender, call: Call) -> None:
        """Run a call here if it is quick, else give it to a worker."""
        if call.seconds <= QUICK_SECONDS:
            reply = call.try_to_run(QUICK_SECONDS)
            if reply is not None:
                self._reply(sender, reply)
                return
        key, limit = call.session_key, MAX_CALLS + (MAX_URGENT if call.urgent else 0)
        if self._running >= limit or (self._calls[key] >= MAX_CALLS_OF_ONE and not call.urgent):
            waiting = f'{self._running} requests, {self._calls[key]} of this session, are waiting'
            self._reply(sender, call.refuse('not_ready', f'{waiting}; repeat the request later'))
            return
        self._running += 1
        self._calls[key] += 1
        self._workers.submit(self._run_on_worker, sender, call)

    def _run_on_worker(self, sender: _Sender, call: Call) -> None:
        try:
            reply = call.run()
        finally:
            self._call_soon(partial(self._count_end, call.session_key))
        self._call_soon(partial(self._reply, sender, reply))

    def _count_end(self, key: Hashable) -> None:
        self._running -= 1
        self._calls[key] -= 1
        if not self._calls[key]:
            del self._calls[key]

    def _reply(self, sender: _Sender, reply: bytes) -> None:
        """Send a reply without waiting; one whose client has left is dropped."""
        large = len(reply) >= _LARGE
        if large:
            self._make_room(sender.envelope[0], len(reply))
        socket = self._socket
        try:
            for part in sender.envelope:
                socket.send(part, _MORE)
            tracker: Any = socket.send(reply, zmq.NOBLOCK, copy=not large, track=large)
        except zmq.Again:
            self._log.warning('closed a connection: the client does not read its replies')
            connection = PeerConnection.of(sender.request)
            if connection is not None:
                connection.end()
        except zmq.ZMQError as error:
            _LOG.debug('dropped a reply: %s', error)
        else:
            if large:
                connection = PeerConnection.of(sender.request)
                self._unread.append(_Unread(tracker, len(reply), sender.envelope[0], connection))

    def _make_room(self, client: bytes, size: int) -> None:
        """End connections until a reply fits: who would have most unread bytes goes first."""
        self._unread = [each for each in self._unread if not each.tracker.done]
        held = Counter({client: size})
        for each in self._unread:
            held[each.client] += each.size
        total = held.total()
        while total > MAX_UNREAD_BYTES:
            ((largest, most),) = held.most_common(1)
            self._log.warning('closed a connection: %d bytes of its replies are unread', most)
            for each in self._unread:
                if each.client == largest and each.connection is not None:
                    each.connection.end()
            self._unread = [each for each in self._unread if each.client != largest]
            total -= held.pop(largest)

    def _call_soon(self, work: Callable[[], None]) -> None:
        """Queue work for the router's thread; thread-safe."""
        self._done.append(work)
        self._wake()

    def _wake(self) -> None:
        # There is no thread to wake when it has just ended by itself.
        with self._wake_lock, suppress(zmq.Again):
            if self._wake_out is not None:
                self._wake_out.send(b'', zmq.NOBLOCK)

    def _run_done(self) -> None:
        while self._done:
            work = self._done.popleft()
            try:
                work()
            except Exception:
                _LOG.exception('a reply raised an error in the transport, which continues')


def _prepare(socket: zmq.Socket[bytes]) -> None:
    # A client that comes back with the same identity takes over its route.
    socket.router_handover = 1
    socket.router_mandatory = 1
