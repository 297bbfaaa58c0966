# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A small agent: connects to the agents' port of any SimSpark server and plays one robot."""

from __future__ import annotations

from collections.abc import Mapping

from urlab_ros_bridge.gateways.simspark.client.connection import ServerGone
from urlab_ros_bridge.gateways.simspark.client.connection import SimSparkConnection
from urlab_ros_bridge.gateways.simspark.client.percepts import Percepts
from urlab_ros_bridge.gateways.simspark.client.percepts import read_percepts
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable

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
        timeout: float = 20.0,
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


__all__ = ['CYCLE', 'NAO', 'AgentClient', 'NotAdmitted', 'perceptor_of']
