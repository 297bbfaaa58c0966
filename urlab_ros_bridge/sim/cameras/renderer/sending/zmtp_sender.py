# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The stream of a camera without libzmq: the thread that has the pixels writes them to the sockets.

Behind a socket of libzmq another thread sends.  It is woken for each part of a frame that the
system takes, on the processor that draws, and sends pixels that have left its caches by then.
Here a frame is on its way when `send` returns, unless a subscriber is slow.

What subscribers see is a PUB socket (RFC 29) that speaks ZMTP 3.1 (RFC 37).
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
import logging
import select
import socket as sockets

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import framed_payload
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_HELD
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_SUBSCRIPTION
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import SEND_QUEUE
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpConnection
from urlab_ros_bridge.sim.sockets.zmtp_server import ZmtpServer
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import WireError

SUBSCRIBERS = ('SUB', 'XSUB')
_RECEIVE = 4096  # bytes at a time of one subscriber
# Bytes of copies that wait for slow subscribers of one camera; one frame may be larger.
MAX_COPIED = 64 << 20
_LOG = logging.getLogger(__name__)


class _UnsentMessage:
    """
    What a subscriber has not taken yet of one message.

    :ivar slot: which the pixels lie in; None for a copy, and for what is no frame.
    :ivar begun: some of it was sent, so the rest has to follow.
    """

    __slots__ = ('begun', 'parts', 'slot')

    def __init__(self, parts: list[memoryview], slot: int | None) -> None:
        self.parts = parts
        self.slot = slot
        self.begun = False

    def taken(self, count: int) -> bool:
        """Leave out what was sent; return whether that was all."""
        self.begun = self.begun or count > 0
        while self.parts and count >= len(self.parts[0]):
            count -= len(self.parts.pop(0))
        if self.parts:
            self.parts[0] = self.parts[0][count:]
        return not self.parts


class _Subscriber(ZmtpConnection):
    """
    One connection.

    :ivar topics: the subscriptions that match a topic of the camera.
    :ivar continues: the frames that come belong to a message whose beginning was read.
    """

    __slots__ = ('continues', 'topics', 'waiting')

    def __init__(self, socket: sockets.socket, unsent: int) -> None:
        """
        Begin.

        :param unsent: bytes that the system keeps of what has not gone out yet.
        """
        super().__init__(socket, MAX_SUBSCRIPTION)
        with suppress(OSError):
            socket.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NOTSENT_LOWAT, unsent)
        self.continues = False
        self.topics: set[bytes] = set()
        self.waiting: deque[_UnsentMessage] = deque()

    def hears(self, topic: bytes) -> bool:
        return any(topic.startswith(each) for each in self.topics)


class ZmtpFrameSender:
    """Sends one camera's frames on the connections of a listening socket; see `FrameSender`."""

    def __init__(self, camera: CameraItem, listener: int) -> None:
        """
        Begin to accept.

        :param listener: descriptor of the listening socket that the server holds open, so clients
            find the same port again when the renderer had to be restarted.
        """
        self._camera = camera
        self._topics = camera.topics
        self._server = ZmtpServer(
            sockets.socket(fileno=listener), 'XPUB', SUBSCRIBERS, self._connect, self._send_control
        )
        self._subscribers = self._server.connections
        self._news = False

    @property
    def watched(self) -> bool:
        """Return whether one of the topics has subscribers."""
        return any(each.topics for each in self._subscribers.values())

    @property
    def on_the_way(self) -> set[int]:
        """Return the slots of frames that are not yet with all their subscribers."""
        return {
            message.slot
            for each in self._subscribers.values()
            for message in each.waiting
            if message.slot is not None
        }

    @property
    def waitable(self) -> int:
        """Return the descriptor that is readable when `read` has something to do."""
        return self._server.poll.fileno()

    def read(self) -> bool:
        """Read subscriptions, send what waits; return whether there were new ones."""
        server = self._server
        events = server.poll.poll(0)
        for handle, event in events:
            subscriber = self._subscribers.get(handle)
            if subscriber is None:
                continue
            if event & select.EPOLLOUT:
                self._send_waiting(subscriber)
            if event & ~select.EPOLLOUT and server.lives(subscriber):
                self._receive(subscriber)
        for slow in server.slow_handshakes():
            self._drop(slow, 'no handshake')
        if events:
            server.accept()
        else:
            server.longest_wait()
        news, self._news = self._news, False
        return news

    def send(self, memory: FrameMemory, slot: int, frame_id: int, capture: Capture) -> None:
        """Send a frame on the topics that are heard, see `FrameSender`."""
        camera, (bare, framed) = self._camera, self._topics
        listeners = [each for each in self._subscribers.values() if each.topics]
        if not listeners:
            return
        size = camera.width, camera.height
        payloads = (
            (bare, memory.pixels(camera.index, slot)),
            (framed, framed_payload(memory, camera.index, slot, size, frame_id, capture)),
        )
        for topic, payload in payloads:
            head = memoryview(zmtp.frame(topic, zmtp.MORE) + zmtp.frame_head(len(payload)))
            for each in listeners:
                if each.hears(topic):
                    self._send_or_keep(each, [head, payload], slot)

    def _send_or_keep(
        self, subscriber: _Subscriber, parts: list[memoryview], slot: int | None
    ) -> None:
        """Send what is taken now, and keep the rest."""
        waiting = subscriber.waiting
        if len(waiting) > SEND_QUEUE:
            return  # it is slow, and loses this one
        message = _UnsentMessage(parts, slot)
        if not waiting:
            try:
                done = message.taken(subscriber.socket.sendmsg(message.parts))
            except BlockingIOError:
                done = False
            except OSError as error:
                self._drop(subscriber, error)
                return
            if done:
                return
            self._server.poll.modify(subscriber.handle, select.EPOLLIN | select.EPOLLOUT)
        held = self.on_the_way
        if slot is not None and slot not in held and len(held) >= MAX_HELD:
            size = sum(map(len, message.parts))
            copied = self._copied()
            if copied and copied + size > MAX_COPIED:
                if message.begun:
                    self._drop(subscriber, 'too many subscribers are slow')
                return
            message.parts = [memoryview(b''.join(message.parts))]
            message.slot = None
        waiting.append(message)

    def _copied(self) -> int:
        """Return the bytes of frames that were copied and wait."""
        return sum(
            len(part)
            for each in self._subscribers.values()
            for message in each.waiting
            if message.slot is None
            for part in message.parts
        )

    def _send_waiting(self, subscriber: _Subscriber) -> None:
        waiting = subscriber.waiting
        try:
            while waiting:
                if waiting[0].taken(subscriber.socket.sendmsg(waiting[0].parts)):
                    waiting.popleft()
        except BlockingIOError:
            return
        except OSError as error:
            self._drop(subscriber, error)
            return
        self._server.poll.modify(subscriber.handle, select.EPOLLIN)

    def _connect(self, socket: sockets.socket) -> _Subscriber:
        # With one frame that has not gone out yet, a slow way delays frames by no more than that.
        return _Subscriber(socket, self._camera.size)

    def _send_control(self, subscriber: _Subscriber, data: bytes) -> None:
        self._send_or_keep(subscriber, [memoryview(data)], None)

    def _receive(self, subscriber: _Subscriber) -> None:
        try:
            data = subscriber.socket.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError as error:
            self._drop(subscriber, error)
            return
        if not data:
            self._drop(subscriber, 'it has closed')
            return
        subscriber.reader.feed(data)
        try:
            self._read_subscriptions(subscriber)
        except WireError as error:
            self._drop(subscriber, error)

    def _read_subscriptions(self, subscriber: _Subscriber) -> None:
        server = self._server
        while server.lives(subscriber) and (frame := server.next_frame(subscriber)) is not None:
            flags, body = frame
            if flags & zmtp.COMMAND:
                name, data = zmtp.read_command(body)
                if name in (b'SUBSCRIBE', b'CANCEL'):
                    self._subscribe(subscriber, data, name == b'SUBSCRIBE')
                continue
            # Subscriptions as ZMTP 3.0 has them; other messages are of no interest.
            if not (subscriber.continues or flags & zmtp.MORE) and body[:1] in (b'\0', b'\1'):
                self._subscribe(subscriber, body[1:], body[0] == 1)
            subscriber.continues = bool(flags & zmtp.MORE)

    def _subscribe(self, subscriber: _Subscriber, topic: bytes, on: bool) -> None:
        if not any(each.startswith(topic) for each in self._topics):
            return  # nothing of that name is sent here
        self._news = True
        if on:
            subscriber.topics.add(topic)
        else:
            subscriber.topics.discard(topic)

    def _drop(self, subscriber: _Subscriber, reason: object) -> None:
        if self._server.drop(subscriber):
            _LOG.debug('%s: a subscriber is gone: %s', self._camera.key, reason)
            self._news |= bool(subscriber.topics)
            subscriber.waiting.clear()


__all__ = ['ZmtpFrameSender']
