# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of any SimSpark server: an agent and a monitor."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
import itertools
import socket
import time
from typing import TypeVar

from simspark_client.percepts import Percepts
from simspark_client.percepts import read_percepts
from simspark_client.scene_view import SceneView
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE

_READ = 1 << 16

C = TypeVar('C', bound='SimSparkConnection')


class ServerGone(SimSparkError, ConnectionError):
    """The server has closed the connection."""


class SimSparkConnection:
    """
    Sends expressions and receives messages.  Not thread-safe.

    :ivar timeout: seconds for sending and receiving.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        """
        Connect.

        :raises OSError: when nothing listens there.
        """
        self.timeout = timeout
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = FrameReader(MAX_SCENE)
        self._ready: deque[bytes] = deque()

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def send(self, *expressions: Writable) -> None:
        """Send expressions in one message, without waiting for an answer."""
        self._socket.settimeout(self.timeout)
        self._socket.sendall(frame(write(*expressions)))

    def receive(self, timeout: float | None = None) -> bytes:
        """
        Return the next message.

        :param timeout: seconds, `timeout` of the connection by default.
        :raises ServerGone: when the server has closed the connection.
        :raises TimeoutError: when none arrived in time.
        """
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while not self._ready:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f'no message arrived within {seconds:g} s')
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(_READ)
            except ConnectionError as error:
                raise ServerGone(str(error)) from error
            if not data:
                raise ServerGone('the server has closed the connection')
            self._ready += self._reader.feed(data)
        return self._ready.popleft()


NAO = 'rsg/agent/nao/nao.rsg'
CYCLE = 0.02


class NotAdmitted(ServerGone):
    """The server has not given the agent a number: its log has the reason."""

    def __init__(self, team: str, number: int) -> None:
        super().__init__(
            f'no robot for number {number} of {team!r}: the number is taken, or two other teams '
            'are playing'
        )


class AgentClient(SimSparkConnection):
    """
    One player.  Not thread-safe.

    ::

        with AgentClient(team='Ours', number=1) as agent:
            while True:
                percepts = agent.perceive()
                agent.act({'he1': 0.5})

    :ivar number, side: that it plays under.
    :ivar percepts: the newest.
    """

    def __init__(
        self,
        host: str = '127.0.0.1',
        port: int = 3100,
        *,
        team: str = 'urlab',
        number: int = 0,
        scene: str = NAO,
        sync: bool = True,
        timeout: float = 60.0,
    ) -> None:
        """
        Connect and request a robot.

        :param number: 0 is the next free one.
        :param scene: scene file, or the name of a robot of the world.
        :param sync: whether to end messages with (syn).
        :param timeout: seconds to wait for a message.
        :raises NotAdmitted: when the server assigns no robot.
        :raises OSError: when nothing listens there.
        """
        super().__init__(host, port, timeout)
        self._sync = sync
        self.percepts = Percepts()
        self.number, self.side = 0, ''
        try:
            self._begin(team, number, scene)
        except BaseException:
            self.close()
            raise

    def perceive(self) -> Percepts:
        """
        Return the next percepts.

        :raises ServerGone, TimeoutError: as `receive`.
        """
        self.percepts = read_percepts(self.receive())
        return self.percepts

    def act(self, speeds: Mapping[str, float] | None = None, *others: Writable) -> None:
        """
        Send speeds of hinges, rad/s, and other effectors; a speed lasts until the next one.

        :param others: expressions such as ``['beam', -1, 0, 0]`` or ``['say', 'hello']``.
        """
        items: list[Writable] = [[name, float(speed)] for name, speed in (speeds or {}).items()]
        items += others
        if self._sync:
            items.append(['syn'])
        if items:
            self.send(*items)

    def beam(self, x: float, y: float, heading: float = 0.0) -> None:
        """Stand somewhere before the kick-off: m, and degrees to the left of the goal ahead."""
        self.act(None, ['beam', float(x), float(y), float(heading)])

    def _begin(self, team: str, number: int, scene: str) -> None:
        self.act(None, ['scene', scene])
        self.perceive()
        self.act(None, ['init', ['unum', number], ['teamname', team]])
        for _ in range(100):
            percepts = self.perceive()
            self.act()
            if percepts.number is not None:
                self.number, self.side = percepts.number, percepts.side
                return
        raise NotAdmitted(team, number)


def perceptor_of(effector: str) -> str:
    """
    Return the perceptor of a Nao's effector.

    >>> perceptor_of('lle3'), perceptor_of('he1')
    ('llj3', 'hj1')
    """
    return f'{effector[:-2]}j{effector[-1]}' if effector[-2:-1] == 'e' else effector


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


__all__ = [
    'CYCLE',
    'NAO',
    'AgentClient',
    'MonitorClient',
    'NotAcknowledged',
    'NotAdmitted',
    'ServerGone',
    'SimSparkConnection',
    'perceptor_of',
]
