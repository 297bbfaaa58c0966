# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What takes part in a game: the interfaces of the agents' side and of a referee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.tcp.connection import Connection
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.world.placement import Teleporter
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene

# Simulated seconds from one cycle to the next.
CYCLE = 0.02


@dataclass(frozen=True, slots=True)
class GameStage:
    """
    A game in one world.

    :ivar game: outlives worlds.
    :ivar scene: of the cycle that runs; it changes with the next one.
    """

    game: GameState
    scene: SimSparkScene
    placement: Teleporter


class Role(Protocol):
    """Takes part in every cycle.  All methods are called in one thread, that of the cycle."""

    def begin(self, stage: GameStage) -> None:
        """Take a world: at the start, and whenever another one takes its place."""


class Referee(Role, Protocol):
    """Keeps the rules."""

    def judge(self) -> None:
        """Look at the scene and change the game; called in every cycle, after the trainers."""


class AgentSide(Role, Protocol):
    """Serves the clients of the agents' port."""

    @property
    def is_waiting(self) -> bool:
        """Return whether the next cycle has to wait: an agent in sync mode has not sent (syn)."""

    @property
    def is_joining(self) -> bool:
        """Return whether time shall pass no faster than in reality, so that an agent can join."""

    def connected(self, connection: Connection) -> None:
        """Take a new client."""

    def received(self, connection: Connection, expressions: list[Expression]) -> None:
        """Take one message of a client; it holds at least one expression."""

    def disconnected(self, connection: Connection) -> None:
        """Forget a client; nothing reaches it any more."""

    def cycle(self, scene: SimSparkScene) -> Mapping[str, Target]:
        """
        Send the percepts of a scene; return the setpoints until the next cycle, by robot.

        What came from agents before, in answer to earlier percepts, is in force now.
        """


__all__ = ['CYCLE', 'AgentSide', 'GameStage', 'Referee', 'Role']
