# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Request/reply for ZeroMQ clients in one thread: it receives, runs quick calls and replies.

Behind a socket of libzmq each request wakes two threads one after the other, and so does each
reply.  That is a third of a quick round trip, and more beside programs that compute: each thread
then queues for a processor.  Here a request wakes one thread (bench/step_rate.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Hashable
from contextlib import suppress
import ipaddress
import logging
import os
import select
import socket as sockets
import threading
import time

from urlab_ros_bridge.scheduling.spin_wait import SpinWait
from urlab_ros_bridge.scheduling.time_slice import ask_for_short_slices
from urlab_ros_bridge.sim.errors import SocketInUse
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpConnection
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpServer
from urlab_ros_bridge.sim.transports.dispatcher import RequestRunner
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder
from urlab_ros_bridge.sim.transports.rpc_transport import RpcTransport
from urlab_ros_bridge.sim.transports.rpc_transport import SPIN_SECONDS
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.encoding.codec import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import WireError

MAX_UNSENT = 64 << 20  # bytes of replies that a client does not take; one reply may be larger
MAX_PARTIAL = 256 << 20  # bytes of unfinished requests, of all clients together
CLIENTS = ('REQ', 'DEALER', 'ROUTER')
_RECEIVE = 1 << 16
_FIRST = 1 << 13  # bytes of the first read of a message, as in libzmq; most requests are shorter
_LARGE = 1 << 20  # at a time, of a large request
_EVENTS = 64  # at a time
_LAST_SECONDS = 0.2  # for replies that are on their way at the end
_BACKLOG = 1024
_LOG = logging.getLogger(__name__)


class _ZmtpClient(ZmtpConnection):
    """
    One client.

    :ivar queued: what has come of it is to be read on, in turn with that of others.
    :ivar envelope: the frames before the request, encoded; None from the delimiter on.
    :ivar request: the frame that is answered.
    :ivar parts: frames of this message so far, and their `bytes`.
    :ivar unsent: what it has not taken yet.
    """

    __slots__ = (
        'bytes', 'envelope', 'head', 'parts', 'queued', 'request', 'unsent', 'unsent_bytes',
    )  # fmt: skip

    def __init__(self, socket: sockets.socket) -> None:
        super().__init__(socket, MAX_REQUEST_BYTES)
        self.queued = False
        self.unsent: deque[memoryview] = deque()
        self.unsent_bytes = 0
        self.begin_message()

    def begin_message(self) -> None:
        self.head: list[bytes] = []
        self.envelope: bytes | None = None
        self.request: bytes | None = None
        self.parts = self.bytes = 0

    def add_part(self, body: bytes) -> None:
        """Take a frame of a message: the envelope ends with an empty one."""
        self.parts += 1
        self.bytes += len(body)
        if self.parts > zmtp.PARTS or self.bytes > MAX_REQUEST_BYTES:
            raise zmtp.BadPeer(
                f'a message of more than {self.parts - 1} parts, {self.bytes} bytes'
            )
        if self.envelope is None:
            self.head.append(zmtp.frame(body, zmtp.MORE))
            if not body:
                self.envelope = b''.join(self.head)
        elif self.request is None:
            self.request = body


# A connection, and the frames before a reply.
_Envelope = tuple[_ZmtpClient, bytes]


class ZmtpRpcTransport(RpcTransport[_Envelope]):
    """Serves the connections of one listening socket."""

    def __init__(
        self,
        listener: sockets.socket,
        dispatcher: RequestRunner,
        reader: FrameDecoder,
        eager: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Prepare the thread.

        :param listener: see `listen`; it is closed with the transport.
        :param reader: finishes frames that take long to decode.
        :param eager: returns whether the next request is likely to follow at once, so that
            spinning for it may pay.
        """
        super().__init__(dispatcher, reader)
        self._eager = eager
        self._spin_wait = SpinWait(self._came, SPIN_SECONDS)
        self._events: list[tuple[int, int]] = []
        self._endpoint = 'tcp://{}:{}'.format(*listener.getsockname())
        self._clients = ZmtpServer(listener, 'ROUTER', CLIENTS, _ZmtpClient, self._send)
        self._poll = self._clients.poll
        self._backlog: deque[_ZmtpClient] = deque()
        self._partial = 0
        self._waker = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._wake_lock = threading.Lock()
        self._poll.register(self._waker, select.EPOLLIN)

    @property
    def endpoint(self) -> str:
        """Return the address that is bound."""
        return self._endpoint

    def run(self) -> None:
        """Serve until `stop`."""
        ask_for_short_slices()
        connections = self._clients.connections
        while not self._stopping.is_set():
            for handle, events in self._wait():
                connection = connections.get(handle)
                if connection is None:
                    self._accept_or_send_done(handle)
                elif events & select.EPOLLIN:
                    if not connection.queued:  # else there are requests of it already
                        self._receive(connection)
                elif events & select.EPOLLOUT:
                    self._send_rest(connection)
                else:
                    self._drop(connection)
            for _ in range(len(self._backlog)):
                self._resume_reading(self._backlog.popleft())
        self._clients.listener.close()
        self._end_calls()
        self._close()

    def _wait(self) -> list[tuple[int, int]]:
        """Return what has happened to which descriptors, after waiting for it."""
        timeout = self._poll_timeout() if self._backlog or self._clients.unsettled else None
        # Going to sleep looks for messages, too, so there is no need to look before that.
        spin_wait = self._spin_wait
        if timeout is None and not spin_wait.skips() and self._eager() and spin_wait.spin():
            return self._events
        return self._poll.poll(timeout, _EVENTS)

    def _came(self) -> bool:
        self._events = self._poll.poll(0, _EVENTS)
        return bool(self._events)

    def _poll_timeout(self) -> float | None:
        """Return how long there may be nothing to do (s)."""
        if self._backlog:
            return 0.0
        timeout = self._clients.longest_wait()
        if timeout is not None:
            for slow in self._clients.slow_handshakes():
                self._drop(slow)
        return timeout

    def _accept_or_send_done(self, handle: int) -> None:
        """Serve a descriptor that is not a connection."""
        if handle == self._waker:
            with suppress(BlockingIOError):
                os.eventfd_read(self._waker)
            self._send_done()
        elif handle == self._clients.listener.fileno():
            self._clients.accept()

    def _receive(self, connection: _ZmtpClient) -> None:
        reader = connection.reader
        begins = connection.ready and not (connection.parts or reader.size)
        try:
            data = connection.socket.recv(
                _FIRST if begins else min(max(_RECEIVE, reader.missing), _LARGE)
            )
        except BlockingIOError:
            return
        except OSError:
            data = b''
        if not data:
            self._drop(connection)
            return
        if begins:
            request = zmtp.sole_body(data)
            if request is not None:
                self._answer((connection, zmtp.DELIMITER), request)
                return
        reader.feed(data)
        self._partial += len(data)
        if self._partial > MAX_PARTIAL:
            _LOG.warning('closed a connection: unfinished requests have %d bytes', self._partial)
            self._drop(connection)
        else:
            self._resume_reading(connection)

    def _resume_reading(self, connection: _ZmtpClient) -> None:
        """Read what has come of a client, up to one request: others have their turn then."""
        connection.queued = False
        if connection.unsent or not self._clients.lives(connection):
            return  # it has to take its replies first, or is gone
        reader = connection.reader
        before = reader.size
        try:
            more = self._read(connection)
        except WireError as error:
            _LOG.warning('closed a connection: %s', error)
            self._drop(connection)
            return
        except Exception:
            _LOG.exception('a connection raised an error in the transport, and is closed')
            self._drop(connection)
            return
        finally:
            self._partial -= before - reader.size
        if more and self._clients.lives(connection):
            connection.queued = True
            self._backlog.append(connection)

    def _read(self, connection: _ZmtpClient) -> bool:
        """Do what the next command or request says; return whether there may be another one."""
        clients = self._clients
        while (frame := clients.next_frame(connection)) is not None:
            flags, body = frame
            if flags & zmtp.COMMAND:
                return connection.reader.size > 0
            connection.add_part(body)
            if not flags & zmtp.MORE:
                envelope, request = connection.envelope, connection.request
                connection.begin_message()
                if envelope is not None and request is not None:
                    self._answer((connection, envelope), request)
                return connection.reader.size > 0
        return False

    def _owner(self, envelope: _Envelope) -> Hashable:
        return envelope[0]

    def _reply(self, envelope: _Envelope, frame: bytes) -> None:
        connection, head = envelope
        head += zmtp.frame_head(len(frame))
        if len(frame) < _RECEIVE:
            self._send(connection, head + frame)
        else:
            self._send(connection, head)
            self._send(connection, frame)

    def _send(self, connection: _ZmtpClient, data: bytes) -> None:
        """Send what the connection takes now, and keep the rest."""
        sent = 0
        if not connection.unsent:
            try:
                sent = connection.socket.send(data)
            except BlockingIOError:
                pass
            except OSError as error:
                _LOG.debug('dropped a reply: %s', error)
                self._drop(connection)
                return
            if sent == len(data):
                return
            self._poll.modify(connection.handle, select.EPOLLOUT)
        elif connection.unsent_bytes > MAX_UNSENT:
            _LOG.warning('closed a connection: the client does not read its replies')
            self._drop(connection)
            return
        connection.unsent.append(memoryview(data)[sent:])
        connection.unsent_bytes += len(data) - sent

    def _send_rest(self, connection: _ZmtpClient) -> None:
        unsent = connection.unsent
        try:
            while unsent:
                sent = connection.socket.send(unsent[0])
                connection.unsent_bytes -= sent
                if sent < len(unsent[0]):
                    unsent[0] = unsent[0][sent:]
                else:
                    unsent.popleft()
        except BlockingIOError:
            return
        except OSError:
            self._drop(connection)
            return
        self._poll.modify(connection.handle, select.EPOLLIN)
        if not connection.queued and not self._stopping.is_set():
            self._resume_reading(connection)

    def _drop(self, connection: _ZmtpClient) -> None:
        """Close a connection; harmless when it is closed."""
        if self._clients.drop(connection):
            self._partial -= connection.reader.size
            connection.unsent.clear()

    def _close(self) -> None:
        """Give replies that are on their way a moment, then close everything."""
        deadline = time.monotonic() + _LAST_SECONDS
        slow = [each for each in self._clients.connections.values() if each.unsent]
        while slow and time.monotonic() < deadline:
            time.sleep(0.01)
            for connection in slow:
                self._send_rest(connection)
            slow = [each for each in slow if each.unsent]
        for connection in list(self._clients.connections.values()):
            self._drop(connection)
        self._poll.close()
        with self._wake_lock:
            os.close(self._waker)
            self._waker = -1

    def _wake(self) -> None:
        with self._wake_lock, suppress(BlockingIOError):
            if self._waker >= 0:
                os.eventfd_write(self._waker, 1)


def listen(bind: str, port: int, option: str) -> sockets.socket | None:
    """
    Return a listening socket for `ZmtpRpcTransport`.

    :param bind: an IPv4 address, or * for all.
    :param port: 0: any.
    :param option: what to name in the error.
    :return: None when libzmq has to bind: to the name of an interface, or on another system.
    :raises SocketInUse: when the address cannot be bound.
    """
    try:
        host = str(ipaddress.IPv4Address('0.0.0.0' if bind == '*' else bind))
    except ValueError:
        return None
    if not (hasattr(select, 'epoll') and hasattr(os, 'eventfd')):
        return None
    listener = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    try:
        listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        reason = os.strerror(error.errno or 0)
        raise SocketInUse(f'tcp://{bind}:{port or "*"}', reason, option) from error
    return listener


__all__ = ['ZmtpRpcTransport', 'listen']
