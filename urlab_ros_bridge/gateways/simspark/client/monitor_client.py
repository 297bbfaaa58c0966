# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client of the monitors' port of any SimSpark server."""

from __future__ import annotations

import itertools
import time

from urlab_ros_bridge.gateways.simspark.client.connection import SimSparkConnection
from urlab_ros_bridge.gateways.simspark.client.scene_view import SceneView
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write


class NotAcknowledged(SimSparkError, TimeoutError):
    """A command was not acknowledged: the server refused it (see its log) or has ended."""


class MonitorClient(SimSparkConnection):
    """
    Watches a game, and commands it.  Not thread-safe.

    ::

        with MonitorClient() as monitor:
            monitor.update()
            monitor.command(['ball', ['pos', 0, 0, 1], ['vel', 1, 0, 0]])
            print(monitor.view.ball, monitor.view.play_mode)

    :ivar view: the scene and the game after the messages so far.
    """

    def __init__(self, host: str = '127.0.0.1', port: int = 3200, timeout: float = 10.0) -> None:
        """
        Connect.

        :param timeout: seconds for sending, receiving and acknowledgements.
        :raises OSError: when nothing listens there.
        """
        super().__init__(host, port, timeout)
        self.view = SceneView()
        self._cookies = itertools.count(1)

    def update(self, timeout: float | None = None) -> SceneView:
        """
        Apply the next message of the scene.

        :raises ServerGone, TimeoutError: as `receive`.
        """
        while True:
            if self.view.take(self.receive(timeout)):
                return self.view

    def command(self, *commands: Writable) -> None:
        """
        Send commands in one message, and wait until they are executed.

        Scenes that arrive before are applied to `view`.

        :raises NotAcknowledged: when the server refused one, or does not know getAck.
        """
        cookie = f'urlab{next(self._cookies)}'
        self.send([*commands, ['getAck', cookie]])
        deadline = time.monotonic() + self.timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                payload = self.receive(left)
            except TimeoutError:
                break
            if not self.view.take(payload) and read(payload) == [['ack', cookie]]:
                return
        names = ', '.join(head(read(write(each))[0]) for each in commands)
        raise NotAcknowledged(f'{names}: not acknowledged within {self.timeout:g} s')


__all__ = ['MonitorClient', 'NotAcknowledged']
