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
import time

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import framed_payload
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_HELD
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_SUBSCRIPTION
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import SEND_QUEUE
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import WireError

HANDSHAKE_SECONDS = 30.0  # as libzmq has it
SUBSCRIBERS = ('SUB', 'XSUB')
_RECEIVE = 4096  # bytes at a time of one subscriber
_ACCEPT_TURN = 32  # connections at a time, before others are served
_LOG = logging.getLogger(__name__)


class _Waiting:
    """
    What a subscriber has not taken yet of one message.

    :ivar slot: which the pixels lie in; None for a copy, and for what is no frame.
    """

    __slots__ = ('parts', 'slot')

    def __init__(self, parts: list[memoryview], slot: int | None) -> None:
        self.parts = parts
        self.slot = slot

    def taken(self, count: int) -> bool:
        """Leave out what was sent; return whether that was all."""
        while self.parts and count >= len(self.parts[0]):
            count -= len(self.parts.pop(0))
        if self.parts:
            self.parts[0] = self.parts[0][count:]
        return not self.parts


class _Subscriber:
    """
    One connection.

    :ivar began: s by time.monotonic.
    :ivar greeted: its greeting has come; `ready`: its READY, too.
    :ivar topics: the subscriptions that match a topic of the camera.
    :ivar continues: the frames that come belong to a message whose beginning was read.
    """

    __slots__ = (
        'began', 'continues', 'greeted', 'reader', 'ready', 'socket', 'topics', 'waiting',
    )  # fmt: skip

    def __init__(self, socket: sockets.socket) -> None:
        self.socket = socket
        self.began = time.monotonic()
        self.greeted = self.ready = self.continues = False
        self.reader = zmtp.ZmtpReader(MAX_SUBSCRIPTION)
        self.topics: set[bytes] = set()
        self.waiting: deque[_Waiting] = deque()

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
        self._listener = sockets.socket(fileno=listener)
        self._listener.setblocking(False)
        self._subscribers: dict[int, _Subscriber] = {}
        self._news = False
        self._epoll = select.epoll()
        # Once for each connection: where there are no descriptors, it must not wake all the time.
        self._epoll.register(self._listener, select.EPOLLIN | select.EPOLLET)

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
        return self._epoll.fileno()

    def read(self) -> bool:
        """Read subscriptions, send what waits; return whether there were new ones."""
        events = self._epoll.poll(0)
        for handle, event in events:
            subscriber = self._subscribers.get(handle)
            if subscriber is None:
                continue
            if event & select.EPOLLOUT:
                self._send_waiting(subscriber)
            if event & ~select.EPOLLOUT and self._lives(subscriber):
                self._receive(subscriber)
        if events:
            self._end_slow_handshakes()
            self._accept()
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
                    self._put(each, [head, payload], slot)

    def _put(self, subscriber: _Subscriber, parts: list[memoryview], slot: int | None) -> None:
        """Send what is taken now, and keep the rest."""
        waiting = subscriber.waiting
        if len(waiting) > SEND_QUEUE:
            return  # it is slow, and loses this one
        message = _Waiting(parts, slot)
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
            self._epoll.modify(subscriber.socket, select.EPOLLIN | select.EPOLLOUT)
        held = self.on_the_way
        if slot is not None and slot not in held and len(held) >= MAX_HELD:
            message.parts = [memoryview(b''.join(message.parts))]
            message.slot = None
        waiting.append(message)

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
        self._epoll.modify(subscriber.socket, select.EPOLLIN)

    def _accept(self) -> None:
        for _ in range(_ACCEPT_TURN):
            try:
                socket, _ = self._listener.accept()
            except OSError:
                return  # there is none, or no descriptor for it until one is closed
            socket.setblocking(False)
            with suppress(OSError):
                socket.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
                # Of what has not gone out yet the system keeps one frame, so that a slow way
                # delays frames by no more than that.
                lowat = sockets.TCP_NOTSENT_LOWAT
                socket.setsockopt(sockets.IPPROTO_TCP, lowat, self._camera.size)
            subscriber = _Subscriber(socket)
            self._subscribers[socket.fileno()] = subscriber
            self._epoll.register(socket, select.EPOLLIN)
            self._put(subscriber, [memoryview(zmtp.GREETING)], None)
        # There may be more, for which no event comes.
        self._epoll.modify(self._listener, select.EPOLLIN | select.EPOLLET)

    def _end_slow_handshakes(self) -> None:
        now = time.monotonic()
        # Connections are in the order in which they came.
        for subscriber in list(self._subscribers.values()):
            if now - subscriber.began < HANDSHAKE_SECONDS:
                return
            if not subscriber.ready:
                self._drop(subscriber, 'no handshake')

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
            self._understand(subscriber)
        except WireError as error:
            self._drop(subscriber, error)

    def _understand(self, subscriber: _Subscriber) -> None:
        reader = subscriber.reader
        if not subscriber.greeted:
            if not reader.greeted():
                return
            subscriber.greeted = True
            self._put(subscriber, [memoryview(zmtp.ready('XPUB'))], None)
        while self._lives(subscriber) and (frame := reader.next()) is not None:
            flags, body = frame
            if flags & zmtp.COMMAND:
                self._obey(subscriber, *zmtp.read_command(body))
                continue
            if not subscriber.ready:
                raise zmtp.BadPeer('a message came before READY')
            # Subscriptions as ZMTP 3.0 has them; other messages are of no interest.
            if not (subscriber.continues or flags & zmtp.MORE) and body[:1] in (b'\0', b'\1'):
                self._subscribe(subscriber, body[1:], body[0] == 1)
            subscriber.continues = bool(flags & zmtp.MORE)

    def _obey(self, subscriber: _Subscriber, name: bytes, data: bytes) -> None:
        if not subscriber.ready:
            if name != b'READY':
                raise zmtp.BadPeer(f'{name[:20]!r} came before READY')
            zmtp.read_ready(data, SUBSCRIBERS)
            subscriber.ready = True
        elif name == b'PING':
            self._put(subscriber, [memoryview(zmtp.pong(data))], None)
        elif name in (b'SUBSCRIBE', b'CANCEL'):
            self._subscribe(subscriber, data, name == b'SUBSCRIBE')

    def _subscribe(self, subscriber: _Subscriber, topic: bytes, on: bool) -> None:
        if not any(each.startswith(topic) for each in self._topics):
            return  # nothing of that name is sent here
        self._news = True
        if on:
            subscriber.topics.add(topic)
        else:
            subscriber.topics.discard(topic)

    def _lives(self, subscriber: _Subscriber) -> bool:
        return self._subscribers.get(subscriber.socket.fileno()) is subscriber

    def _drop(self, subscriber: _Subscriber, reason: object) -> None:
        if not self._lives(subscriber):
            return
        _LOG.debug('%s: a subscriber is gone: %s', self._camera.key, reason)
        del self._subscribers[subscriber.socket.fileno()]
        self._news |= bool(subscriber.topics)
        subscriber.waiting.clear()
        self._epoll.unregister(subscriber.socket)
        subscriber.socket.close()


__all__ = ['ZmtpFrameSender']
