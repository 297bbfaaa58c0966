# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The players: their sides, numbers and robots."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
import re

MAX_NUMBER = 11

_SIDED = re.compile(r'(left|right)_?([1-9][0-9]?)')


class Side(Enum):
    """A half of the field at the beginning: `LEFT` defends the goal at negative x."""

    LEFT = 'left'
    RIGHT = 'right'

    @property
    def opponent(self) -> Side:
        """Return the other side."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT

    @property
    def title(self) -> str:
        """Return the name in trainer commands and play modes that begin upper-case."""
        return self.value.title()

    @property
    def sign(self) -> int:
        """Return the sign of x in its own half."""
        return -1 if self is Side.LEFT else 1


def robot_number(robot: str) -> int:
    """
    Return the number in the name of a robot, 0 without one.

    >>> robot_number('left_3'), robot_number('rover')
    (3, 0)
    """
    match = _SIDED.fullmatch(robot)
    return int(match[2]) if match else 0


@dataclass(frozen=True, slots=True)
class Player:
    """
    One player.

    :ivar number: 1 to 11.
    :ivar robot: prefix of its articulation.
    """

    side: Side
    number: int
    robot: str


@dataclass(slots=True)
class Condition:
    """
    Battery and temperature of a player, as set by a trainer.

    :ivar battery: percent; `temperature` degrees Celsius.
    """

    battery: float = 100.0
    temperature: float = 23.0


class Roster:
    """
    Which robot is which player; a number of a side is taken once, a robot plays once.

    :ivar by_joining: whether robots named ``left_3`` become players only when an agent joins;
        `waiting` has their names.
    :ivar version: grows with every change.
    """

    def __init__(self, *, by_joining: bool = False) -> None:
        self._players: dict[tuple[Side, int], Player] = {}
        self.waiting: list[str] = []
        self.by_joining = by_joining
        self.version = 0

    def __iter__(self) -> Iterator[Player]:
        """Return the players, those of the left first, by number."""
        order = sorted(self._players, key=lambda place: (place[0] is Side.RIGHT, place[1]))
        return iter([self._players[place] for place in order])

    def __len__(self) -> int:
        return len(self._players)

    def add(self, side: Side, number: int, robot: str) -> Player | None:
        """Return the new player, None when number or robot are taken or beyond 1 to 11."""
        taken = (side, number) in self._players or self.of_robot(robot) is not None
        if taken or not 1 <= number <= MAX_NUMBER:
            return None
        player = self._players[side, number] = Player(side, number, robot)
        self.version += 1
        return player

    def remove(self, player: Player) -> None:
        """Remove a player; do nothing if it is not on the roster."""
        if self.find(player.side, player.number) == player:
            del self._players[player.side, player.number]
            self.version += 1

    def clear(self) -> None:
        """Remove all players."""
        self._players.clear()
        self.version += 1

    def find(self, side: Side, number: int) -> Player | None:
        """Return a player by side and number."""
        return self._players.get((side, number))

    def of_robot(self, robot: str) -> Player | None:
        """Return the player that a robot is."""
        return next((p for p in self._players.values() if p.robot == robot), None)

    def of_side(self, side: Side) -> list[Player]:
        """Return the players of a side by number."""
        return [player for player in self if player.side is side]

    @property
    def reserve(self) -> list[str]:
        """Return the robots without an agent, which take no part in the game."""
        return [robot for robot in self.waiting if self.of_robot(robot) is None]

    def substitutes(self, side: Side, number: int) -> list[str]:
        """Return the robots in reserve for a player, the one with its number first."""
        numbers = {
            robot: robot_number(robot) for robot in self.reserve if robot.startswith(side.value)
        }
        return sorted(numbers, key=lambda robot: (numbers[robot] != number, numbers[robot]))

    def free_number(self, side: Side) -> int | None:
        """Return the lowest free number."""
        return next((n for n in range(1, MAX_NUMBER + 1) if (side, n) not in self._players), None)

    def enlist(self, robots: Iterable[str]) -> None:
        """
        Make players of robots: ``left_3`` is number 3 of the left, others take free numbers.

        Players keep their robots, and leave when these are missing.  Robots beyond 22 are scenery.
        """
        present = list(robots)
        self.waiting = [r for r in present if self.by_joining and _SIDED.fullmatch(r)]
        for player in self:
            if player.robot not in present:
                self.remove(player)
        others = []
        for robot in present:
            match = _SIDED.fullmatch(robot)
            if robot in self.waiting:
                continue
            if match is None or self.add(Side(match[1]), int(match[2]), robot) is None:
                others.append(robot)
        for robot in others:
            for side in Side:
                number = self.free_number(side)
                if number is not None and self.add(side, number, robot) is not None:
                    break


__all__ = ['MAX_NUMBER', 'Condition', 'Player', 'Roster', 'Side', 'robot_number']
