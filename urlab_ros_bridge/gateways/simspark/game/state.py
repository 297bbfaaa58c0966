# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The game: teams, score, half, time, play mode and players."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import random
from typing import NamedTuple

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.errors import OutOfRange
from urlab_ros_bridge.gateways.simspark.game.players import Condition
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Roster
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import Rules

BEFORE_KICK_OFF = 'BeforeKickOff'
PLAY_ON = 'PlayOn'
GAME_OVER = 'GameOver'

# The first 17 are the page's; SimSpark has the others since.
PLAY_MODES = (
    BEFORE_KICK_OFF, 'KickOff_Left', 'KickOff_Right', PLAY_ON, 'KickIn_Left', 'KickIn_Right',
    'corner_kick_left', 'corner_kick_right', 'goal_kick_left', 'goal_kick_right', 'offside_left',
    'offside_right', GAME_OVER, 'Goal_Left', 'Goal_Right', 'free_kick_left', 'free_kick_right',
    'direct_free_kick_left', 'direct_free_kick_right', 'pass_left', 'pass_right',
)  # fmt: skip

# The clock of the game is stopped in these.
STOPPED = frozenset({BEFORE_KICK_OFF, GAME_OVER})

# No game lasts longer (s) or has more goals; viewers store both in 32 bits.
MAX_TIME = 1e6
MAX_SCORE = 9999
_FOULS_KEPT = 31


class FoulType(Enum):
    """Kinds of fouls; in messages, a kind is its value."""

    CROWDING = 0
    TOUCHING = 1
    ILLEGAL_DEFENCE = 2
    ILLEGAL_ATTACK = 3
    INCAPABLE = 4
    KICK_OFF = 5
    CHARGING = 6


class Foul(NamedTuple):
    """A foul; `number` counts them from 1."""

    number: int
    kind: FoulType
    player: Player


@dataclass(slots=True)
class GameState:
    """
    One game.  Not thread-safe: it belongs to the thread of the cycle.

    Trainer, referee and agents change it by its methods, monitors read its attributes.

    :ivar time: of the game, s; stopped before the kick-off and after the end.
    :ivar half: 1 or 2.
    :ivar mode_seconds: simulated time since the play mode was entered, s.
    :ivar teams: names; '' until the first agent of a side says it.
    :ivar conditions: by robot, see `condition`.
    :ivar fouls: the latest.
    :ivar pass_requests: players that have requested the pass mode since the last cycle.
    :ivar no_score: teams whose goals do not count for a time, after their pass mode.
    :ivar ball_moves: how often a trainer has moved the ball.
    :ivar selected: the player that trainer commands without a number mean.
    """

    rules: Rules = field(default_factory=Rules)
    time: float = 0.0
    half: int = 1
    play_mode: str = BEFORE_KICK_OFF
    mode_seconds: float = 0.0
    score: dict[Side, int] = field(default_factory=lambda: dict.fromkeys(Side, 0))
    teams: dict[Side, str] = field(default_factory=lambda: dict.fromkeys(Side, ''))
    roster: Roster = field(default_factory=Roster)
    selected: Player | None = None
    conditions: dict[str, Condition] = field(default_factory=dict)
    fouls: tuple[Foul, ...] = ()
    pass_requests: set[Player] = field(default_factory=set)
    no_score: set[Side] = field(default_factory=set)
    ball_moves: int = 0
    _coin: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def is_stopped(self) -> bool:
        """Return whether the clock of the game is stopped."""
        return self.play_mode in STOPPED

    def advance(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.mode_seconds += seconds
        if not self.is_stopped:
            self.time += seconds

    def set_play_mode(self, mode: str) -> None:
        """
        Enter a play mode; entering the current one restarts its timer.

        :raises BadCommand: for an unknown name; names are case-sensitive.
        """
        if mode not in PLAY_MODES:
            raise BadCommand(f'unknown play mode {mode!r}; valid: {", ".join(PLAY_MODES)}')
        self.play_mode = mode
        self.mode_seconds = 0.0

    def set_time(self, seconds: float) -> None:
        """
        Set the time of the game.

        :raises OutOfRange: unless it is 0 to `MAX_TIME`.
        """
        if not 0 <= seconds <= MAX_TIME:
            raise OutOfRange('time', seconds, 0, MAX_TIME)
        self.time = seconds

    def set_half(self, half: int) -> None:
        """
        Begin a half.

        :raises BadCommand: unless it is 1 or 2.
        """
        if half not in (1, 2):
            raise BadCommand(f'half {half} is not 1 or 2')
        self.half = half

    def set_score(self, left: int, right: int) -> None:
        """
        Set the score of both teams.

        :raises OutOfRange: unless both are 0 to `MAX_SCORE`.
        """
        for goals in (left, right):
            if not 0 <= goals <= MAX_SCORE:
                raise OutOfRange('score', goals, 0, MAX_SCORE)
        self.score = {Side.LEFT: left, Side.RIGHT: right}

    def foul(self, player: Player, kind: FoulType) -> None:
        """Record a foul."""
        number = self.fouls[-1].number + 1 if self.fouls else 1
        self.fouls = (*self.fouls[-_FOULS_KEPT:], Foul(number, kind, player))

    def goal(self, side: Side) -> None:
        """Count a goal of a side, and enter the play mode of it."""
        self.score[side] += 1
        self.set_play_mode(f'Goal_{side.title}')

    def kick_off(self, side: Side | None) -> Side:
        """Give the kick-off to a side, or toss a coin; the ball stays where it is."""
        chosen = side or self._coin.choice(list(Side))
        self.set_play_mode(f'KickOff_{chosen.title}')
        return chosen

    def side_of_team(self, name: str) -> Side | None:
        """
        Return the side of a team, or that of its first player: the left, then the right.

        None for a third team.
        """
        return next((side for side in Side if self.teams[side] in ('', name)), None)

    def select(self, player: Player | None) -> None:
        """Select one player, or none."""
        self.selected = player

    def select_next(self) -> Player | None:
        """Select the player after the selected one, the first after the last."""
        players = list(self.roster)
        if self.selected in players:
            self.selected = players[(players.index(self.selected) + 1) % len(players)]
        else:
            self.selected = players[0] if players else None
        return self.selected

    def condition(self, player: Player) -> Condition:
        """Return the condition of a player; it may be changed."""
        return self.conditions.setdefault(player.robot, Condition())

    def leave(self, player: Player) -> None:
        """Remove a player from the game."""
        self.roster.remove(player)
        if self.selected == player:
            self.selected = None


__all__ = [
    'BEFORE_KICK_OFF', 'GAME_OVER', 'MAX_SCORE', 'MAX_TIME', 'PLAY_MODES', 'PLAY_ON', 'STOPPED',
    'Foul', 'FoulType', 'GameState',
]  # fmt: skip
