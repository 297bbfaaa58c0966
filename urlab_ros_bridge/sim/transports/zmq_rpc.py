# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Request/reply over a ROUTER socket of libzmq: for encrypted connections.

libzmq serves its connections in a thread of its own; `ZmtpRpcTransport`, which does without, is
quicker.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from contextlib import suppress
import logging
import os
import threading

import zmq

from urlab_ros_bridge.scheduling.spin_wait import SpinWait
from urlab_ros_bridge.scheduling.time_slice import ask_for_short_slices
from urlab_ros_bridge.sim.sockets.zmq_options import bound_endpoint
from urlab_ros_bridge.sim.sockets.zmq_options import disconnect_sender
from urlab_ros_bridge.sim.sockets.zmq_options import readable
from urlab_ros_bridge.sim.transports.dispatcher import RequestRunner
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder
from urlab_ros_bridge.sim.transports.rpc_transport import RpcTransport
from urlab_ros_bridge.sim.transports.rpc_transport import SPIN_SECONDS
from urlab_ros_bridge.wire.zmtp import PARTS

_WAKE_ENDPOINT = 'inproc://rpc-wake'
_MORE = zmq.SNDMORE | zmq.NOBLOCK
_MORE_PARTS = int(zmq.RCVMORE)
_LOG = logging.getLogger(__name__)


class ZmqRpcTransport(RpcTransport[list[bytes]]):
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
        super().__init__(dispatcher, reader)
        self._socket = socket
        self._endpoint = bound_endpoint(socket)
        self._eager = eager
        self._spin_wait = SpinWait(lambda: readable(socket), SPIN_SECONDS)
        # Random, so that no client can take the waker's place.
        self._wake_identity = b'\x01' + os.urandom(16)
        socket.bind(_WAKE_ENDPOINT)
        self._wake_out = context.socket(zmq.DEALER)
        self._wake_out.setsockopt(zmq.IDENTITY, self._wake_identity)
        self._wake_out.setsockopt(zmq.LINGER, 0)
        self._wake_out.connect(_WAKE_ENDPOINT)
        self._wake_lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Return the address that is bound."""
        return self._endpoint

    def run(self) -> None:
        """Serve until `stop`."""
        ask_for_short_slices()
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
        self._end_calls()
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
            if dropped % PARTS == 0:
                self._send_done()
        if dropped >= PARTS:
            _LOG.warning('closed a connection: it sent a message of %d parts too many', dropped)
            disconnect_sender(frame)

    def _receive_odd(self, parts: list[bytes]) -> None:
        """Take a message whose envelope is not that of a REQ socket: it may be longer."""
        while len(parts) < PARTS and self._socket.getsockopt(zmq.RCVMORE):
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
        super().stop()
        self._wake_out.close()

    def _owner(self, envelope: list[bytes]) -> Hashable:
        return envelope[0]

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
