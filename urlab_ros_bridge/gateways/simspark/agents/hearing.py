# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What players call: one word of each team in two cycles, heard within 50 m."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side

RANGE = 50.0  # m
# A team is heard once in so many cycles.
TURN = 2


@dataclass(frozen=True, slots=True)
class Shout:
    """
    A word that a player has called.

    :ivar team: name of the team; `place` where it was called, m.
    """

    player: Player
    team: str
    text: str
    place: np.ndarray


class Hearing:
    """Takes calls and hands them out in the next cycle."""

    def __init__(self) -> None:
        self._cycle = 0
        self._last: dict[Side, int] = {}
        self._calls: list[Shout] = []

    def say(self, call: Shout) -> bool:
        """Take a call; return whether it will be heard: a team has its turn every second cycle."""
        side = call.player.side
        if self._cycle - self._last.get(side, -TURN) < TURN:
            return False
        self._last[side] = self._cycle
        self._calls.append(call)
        return True

    def calls(self) -> list[Shout]:
        """Begin a cycle; return what was called since the last one began."""
        self._cycle += 1
        calls, self._calls = self._calls, []
        return calls


__all__ = ['RANGE', 'Hearing', 'Shout']
