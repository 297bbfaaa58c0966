# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Subscriptions on a connection of the receiving thread's own.

libzmq's thread is woken as soon as the first bytes of a message are there, and again for each
piece of a large one; each time the sender's processor has to wake it, and the thread that wants
the message is woken after that.  Here the system is asked to wake the one thread there is when a
whole message has come (SO_RCVLOWAT), and copies it to where it stays.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from contextlib import suppress
import logging
import math
import os
import re
import select
import socket as sockets
import time

from urlab_ros_bridge.client.transports.sockets import keep_alive
from urlab_ros_bridge.client.transports.sockets import resolve
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import Reader
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Subscriber
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Taken
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import WireError

HANDSHAKE_SECONDS = 30.0  # as libzmq has it
_RETRY, _LONGEST_RETRY = 0.1, 1.0  # s between two attempts to connect
_HELLO_SECONDS = 0.25  # that a new subscriber waits for the publisher's READY
# Read in one go at most, about; a publisher may never stop sending what nobody wants.
_TURN_BYTES = 1 << 18
_MOST_UNSENT = 1 << 16  # bytes of answers
_SEND_BUFFER = 1 << 14
_MOST = (1 << 31) - 1
_ADDRESS = re.compile(r'tcp://([^/:;*\[\]]+):([0-9]{1,5})')
_HELLO = zmtp.GREETING_3_0 + zmtp.ready('SUB')
_LOG = logging.getLogger(__name__)


class ZmtpSubscriber(Subscriber[Taken]):
    """
    What a SUB socket does, for one publisher.

    It connects, answers and receives within `take` and `wait` alone; in between the system keeps
    what comes.
    """

    def __init__(
        self,
        endpoint: str,
        topics: Iterable[bytes],
        make_reader: Callable[[], Reader[Taken]],
        *,
        deep: bool,
    ) -> None:
        """
        Connect, see `open_subscriber`.

        :param endpoint: one that `can_reach` accepts.
        :param make_reader: called for each connection.
        :param deep: the system keeps as many messages as it can.
        """
        self._socket: sockets.socket | None = None
        found = _ADDRESS.fullmatch(endpoint)
        assert found, endpoint
        self._address = found[1], int(found[2])
        self._endpoint, self._topics = endpoint, tuple(topics)
        self._make_reader, self._deep = make_reader, deep
        self._unsent = b''
        self._reader = make_reader()
        self._drained = False
        self._poll = select.poll()
        self._threshold = 1
        self._process = 0
        self._pause, self._retry_at = _RETRY, 0.0
        self._established = self._subscribed = False
        self._give_up_at = 0.0
        self._connect()
        deadline = time.monotonic() + _HELLO_SECONDS
        while self._socket and not self._established and time.monotonic() < deadline:
            self.wait(_HELLO_SECONDS)
            self.take()
        if self._socket and not self._established:
            # The renderer is being started and will see to it, and it may take long until the
            # next `take`.  (libzmq ends a connection on which a subscription comes before it has
            # sent READY; then the next one is waited for.)
            self._send_subscriptions()
            self._advance()

    def __del__(self) -> None:
        self.close()

    @staticmethod
    def can_reach(endpoint: str) -> bool:
        """Return whether an address is one of a TCP port, without a source or an interface."""
        found = _ADDRESS.fullmatch(endpoint)
        return found is not None and int(found[2]) < 1 << 16

    def subscribe(self, topic: bytes) -> None:
        self._change((*self._topics, topic), b'\x01' + topic)

    def unsubscribe(self, topic: bytes) -> None:
        left = list(self._topics)
        left.remove(topic)
        self._change(tuple(left), b'\x00' + topic)

    def take(self) -> Taken | None:
        if not self._advance():
            return None
        socket, reader, size = self._socket, self._reader, 0
        assert socket is not None
        taken = None
        try:
            while True:
                taken = reader.next()
                if taken is not None or self._drained or size > _TURN_BYTES:
                    break
                room = reader.room()
                count = socket.recv_into(room)
                if not count:
                    raise ConnectionError('the publisher closed the connection')
                reader.filled(count)
                size += count
                self._drained = count < len(room)
        except BlockingIOError:
            pass
        except (WireError, OSError) as error:
            self._lose(error)
            return taken
        if taken is None:
            self._drained = False  # there may be more the next time
        if reader.answers or not self._established:
            self._answer()
        return taken

    def wait(self, seconds: float) -> None:
        if self._socket is None:
            time.sleep(min(seconds, max(self._retry_at - time.monotonic(), 0.0)))
            return
        self._set_threshold(min(self._reader.missing, _MOST))
        self._poll.poll(1000 * seconds)

    def close(self) -> None:
        self._drop()
        self._retry_at = math.inf

    def _change(self, topics: tuple[bytes, ...], message: bytes) -> None:
        """Have other subscriptions."""
        self._topics = topics
        self._reader.subscribe(topics)
        if self._socket is not None and self._subscribed:
            self._unsent += zmtp.frame(message)
            self._advance()

    def _advance(self) -> bool:
        """Do what is to be done for the connection; return whether there is one to read from."""
        if self._socket is not None and self._process != os.getpid():
            self._drop()  # it is the parent's
            self._retry_at = 0.0
        if self._socket is None and not self._connect():
            return False
        if self._reader.answers:
            self._unsent += bytes(self._reader.answers)
            self._reader.answers.clear()
            if len(self._unsent) > _MOST_UNSENT:
                self._lose('the publisher does not read the answers to its pings')
                return False
        return not self._unsent or self._send()

    def _connect(self) -> bool:
        """Begin to connect if it is time; return whether there is a connection now."""
        now = time.monotonic()
        if now < self._retry_at:
            return False
        self._give_up_at = now + HANDSHAKE_SECONDS
        self._reader = self._make_reader()
        self._reader.subscribe(self._topics)
        self._drained = False
        self._process = os.getpid()
        try:
            address = resolve(*self._address)
            socket = self._socket = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
            socket.setblocking(False)
            keep_alive(socket)
            socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, _SEND_BUFFER)
            self._threshold = 1
            if self._deep:
                # The system makes as much room as it can, and keeps it when asked for less again.
                self._set_threshold(_MOST)
                self._set_threshold(1)
            with suppress(BlockingIOError):
                socket.connect(address)
        except OSError as error:
            self._lose(error)
            return False
        self._poll = select.poll()
        self._poll.register(socket, select.POLLIN | select.POLLOUT)
        self._unsent = _HELLO
        self._established = self._subscribed = False
        return self._send()

    def _send(self) -> bool:
        """Send what is to be sent; return whether the connection still stands."""
        socket = self._socket
        assert socket is not None
        try:
            self._unsent = self._unsent[socket.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError as error:
            self._lose(error)
            return False
        self._poll.modify(socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        return True

    def _answer(self) -> None:
        """Send what the publisher waits for: the subscriptions, once it is ready, and PONGs."""
        if self._reader.ready and not self._established:
            self._established, self._pause = True, _RETRY
            self._send_subscriptions()
        elif not self._established and time.monotonic() > self._give_up_at:
            self._lose('no handshake')
            return
        self._advance()

    def _send_subscriptions(self) -> None:
        if not self._subscribed:
            self._subscribed = True
            self._unsent += b''.join(zmtp.frame(b'\x01' + topic) for topic in self._topics)

    def _lose(self, reason: object) -> None:
        _LOG.debug('%s: no connection: %s', self._endpoint, reason)
        self._drop()
        self._retry_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_RETRY)

    def _drop(self) -> None:
        # No shutdown: another process may have the connection by a fork.
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def _set_threshold(self, threshold: int) -> None:
        """Let the system wake this thread when so many bytes have come, or as many as it holds."""
        if threshold != self._threshold and self._socket is not None:
            self._threshold = threshold
            with suppress(OSError):
                self._socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVLOWAT, threshold)


__all__ = ['ZmtpSubscriber']
