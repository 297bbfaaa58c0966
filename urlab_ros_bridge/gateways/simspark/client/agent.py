# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A small agent: connects to the agents' port of any SimSpark server and plays one robot."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
import socket

from urlab_ros_bridge.gateways.simspark.client.monitor_client import ServerGone
from urlab_ros_bridge.gateways.simspark.client.percepts import Percepts
from urlab_ros_bridge.gateways.simspark.client.percepts import read_percepts
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE

NAO = 'rsg/agent/nao/nao.rsg'
CYCLE = 0.02
_READ = 1 << 16


class NotAdmitted(ServerGone):
    """The server has not given the agent a number: its log has the reason."""

    def __init__(self, team: str, number: int) -> None:
        super().__init__(
            f'no robot for number {number} of {team!r}: the number is taken, or two other teams '
            'are playing'
        )


class AgentClient:
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
        timeout: float = 20.0,
    ) -> None:
        """
        Connect and take a robot.

        :param number: 0 is the next free one.
        :param scene: model; for a robot by its name, that name.
        :param sync: whether to end messages with (syn).
        :param timeout: seconds to wait for a message.
        :raises NotAdmitted: when the server gives it no robot.
        :raises OSError: when nothing listens there.
        """
        self._sync = sync
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = FrameReader(MAX_SCENE)
        self._ready: deque[bytes] = deque()
        self.percepts = Percepts()
        self.number, self.side = 0, ''
        try:
            self._begin(team, number, scene)
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> AgentClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the game."""
        self._socket.close()

    def perceive(self) -> Percepts:
        """
        Return the next percepts.

        :raises ServerGone: when the server has ended.
        :raises TimeoutError: when none came in time.
        """
        self.percepts = read_percepts(self.receive())
        return self.percepts

    def receive(self) -> bytes:
        """
        Return the next message as it came.

        :raises ServerGone, TimeoutError: as `perceive`.
        """
        while not self._ready:
            try:
                data = self._socket.recv(_READ)
            except ConnectionError as error:
                raise ServerGone(str(error)) from error
            if not data:
                raise ServerGone('the server has closed the connection')
            self._ready += self._reader.feed(data)
        return self._ready.popleft()

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
            self._socket.sendall(frame(write(*items)))

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


__all__ = ['CYCLE', 'NAO', 'AgentClient', 'NotAdmitted', 'perceptor_of']
