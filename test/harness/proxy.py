# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server with one fault: a proxy before a sound one that spoils requests, replies or rows."""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
import json
import threading

import msgpack
import zmq

from urlab_ros_bridge.conformance import Places


@dataclass
class Fault:
    """
    One deliberate mistake.

    :ivar request: (request) -> request, or None.
    :ivar reply: (request, reply) -> reply, or None.
    :ivar frame: (request, frame) -> frame, on the bytes of the reply, or None.
    :ivar row: (topic, payload) -> list of messages, or None.
    """

    request: Callable | None = None
    reply: Callable | None = None
    frame: Callable | None = None
    row: Callable | None = None


def unpack(frame: bytes) -> dict | None:
    try:
        value = json.loads(frame) if frame[:1] in b'{ ' else msgpack.unpackb(frame)
    except Exception:
        return None
    return value if isinstance(value, dict) else None


class Proxy(threading.Thread):
    """Stands before a server; give `places` to the suite."""

    def __init__(self, upstream: Places, fault: Fault) -> None:
        super().__init__(daemon=True)
        self._fault = fault
        self._context = zmq.Context()
        self._ending = threading.Event()
        self._front = self._bound(zmq.REP)
        self._back = self._context.socket(zmq.REQ)
        self._back.connect(upstream.rpc)
        self.places = replace(upstream, rpc=self._address(self._front))
        self._rows = self._publisher = None
        if fault.row:
            self._publisher = self._bound(zmq.PUB)
            self._rows = self._context.socket(zmq.SUB)
            self._rows.setsockopt(zmq.SUBSCRIBE, b'')
            self._rows.connect(upstream.state)
            self.places = replace(self.places, state=self._address(self._publisher))

    def __enter__(self) -> 'Proxy':
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join()
        self._context.destroy(linger=0)

    def _bound(self, kind: int) -> zmq.Socket:
        socket = self._context.socket(kind)
        socket.bind('tcp://127.0.0.1:*')
        return socket

    @staticmethod
    def _address(socket: zmq.Socket) -> str:
        return socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip('\0')

    def run(self) -> None:
        poller = zmq.Poller()
        for socket in (self._front, self._rows):
            if socket is not None:
                poller.register(socket, zmq.POLLIN)
        while not self._ending.is_set():
            ready = dict(poller.poll(20))
            if self._front in ready:
                self._front.send(self._answer(self._front.recv()))
            if self._rows is not None and self._rows in ready:
                for parts in self._fault.row(*self._rows.recv_multipart()):
                    self._publisher.send_multipart(parts)

    def _answer(self, frame: bytes) -> bytes:
        request = unpack(frame)
        if request is not None and self._fault.request:
            request = self._fault.request(request)
            frame = msgpack.packb(request)
        self._back.send(frame)
        answer = self._back.recv()
        if request is None:
            return answer
        if self._fault.reply:
            reply = self._fault.reply(request, unpack(answer))
            answer = json.dumps(reply).encode() if answer[:1] == b'{' else msgpack.packb(reply)
        return self._fault.frame(request, answer) if self._fault.frame else answer
