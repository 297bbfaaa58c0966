# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A connection to the monitors' port of any SimSpark server."""

from __future__ import annotations

from collections import deque
import itertools
import socket
import time

from urlab_ros_bridge.gateways.simspark.client.scene_view import SceneView
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE

_READ = 1 << 16


class NotAcknowledged(SimSparkError, TimeoutError):
    """A command was not answered: the server refused it (see its log), or is away."""


class ServerGone(SimSparkError, ConnectionError):
    """The server has closed the connection."""


class MonitorClient:
    """
    Watches a game, and commands it.  Not thread-safe.

    ::

        with MonitorClient() as monitor:
            monitor.update()
            monitor.command(['ball', ['pos', 0, 0, 1], ['vel', 1, 0, 0]])
            print(monitor.view.ball, monitor.view.play_mode)

    :ivar view: the state from the messages so far.
    """

    def __init__(self, host: str = '127.0.0.1', port: int = 3200, timeout: float = 10.0) -> None:
        """
        Connect.

        :param timeout: seconds that anything waits.
        :raises OSError: when nothing listens there.
        """
        self.view = SceneView()
        self.timeout = timeout
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = FrameReader(MAX_SCENE)
        self._ready: deque[bytes] = deque()
        self._cookies = itertools.count(1)

    def __enter__(self) -> MonitorClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def receive(self, timeout: float | None = None) -> bytes | None:
        """
        Return the next message as it came, None when there was none in time.

        :raises ServerGone: when the server has ended.
        """
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while not self._ready:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(_READ)
            except TimeoutError:
                return None
            except ConnectionError as error:
                raise ServerGone(str(error)) from error
            if not data:
                raise ServerGone('the server has closed the connection')
            self._ready += self._reader.feed(data)
        return self._ready.popleft()

    def update(self, timeout: float | None = None) -> SceneView:
        """
        Take the next message of the scene over.

        :raises ServerGone: when the server has ended.
        :raises TimeoutError: when none came in time.
        """
        while True:
            payload = self.receive(timeout)
            if payload is None:
                raise TimeoutError('no scene message arrived')
            if self.view.take(payload):
                return self.view

    def send(self, *commands: Writable) -> None:
        """Send commands in one message, without an answer."""
        self._socket.settimeout(self.timeout)
        self._socket.sendall(frame(write(*commands)))

    def command(self, *commands: Writable) -> None:
        """
        Send commands in one message, and wait until they are carried out.

        Scenes that arrive meanwhile are merged into `view`.

        :raises NotAcknowledged: when the server does not say so: it refused one, or does not
            know getAck.
        """
        cookie = f'urlab{next(self._cookies)}'
        self.send([*commands, ['getAck', cookie]])
        deadline = time.monotonic() + self.timeout
        while (left := deadline - time.monotonic()) > 0:
            payload = self.receive(left)
            if payload is None:
                break
            if self.view.take(payload):
                continue
            if read(payload) == [['ack', cookie]]:
                return
        names = ', '.join(head(read(write(each))[0]) for each in commands)
        raise NotAcknowledged(f'{names}: not acknowledged within {self.timeout:g} s')


__all__ = ['MonitorClient', 'NotAcknowledged', 'ServerGone']
