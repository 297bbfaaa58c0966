# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A soccer referee: times, goals, balls out of play, kick-offs, and the rules of `RULES`.

It is deterministic: its decisions follow from the scenes that it receives.  There is no offside.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import logging

import numpy as np

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import KickOff
from urlab_ros_bridge.gateways.simspark.game.state import BEFORE_KICK_OFF
from urlab_ros_bridge.gateways.simspark.game.state import GAME_OVER
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_ON
from urlab_ros_bridge.gateways.simspark.game.state import STOPPED
from urlab_ros_bridge.gateways.simspark.referee.fouls import Fouls
from urlab_ros_bridge.gateways.simspark.referee.pass_mode import MODES
from urlab_ros_bridge.gateways.simspark.referee.pass_mode import PassMode
from urlab_ros_bridge.gateways.simspark.world.scene import BallBody
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.gateways.simspark.world.stage import STILL
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UnknownName

_LOG = logging.getLogger(__name__)

# A player touches a ball that is this near to the origin of one of its bodies, m.
TOUCH = 0.17
# Play resumes when the ball has moved this far from its spot, m, or after this long, s.
MOVED = 0.1
SET_PIECE_SECONDS = 15.0
# Contact with the ball within this time belongs to one kick, s.
KICK_SECONDS = 0.1
# Spot of a goal kick before the goal line, m.
GOAL_KICK = 1.0
# Before the kick-off, the ball may be off the centre by this much, m.
_CENTRED = 0.01
# Players that are moved look for a free place in steps of this, m.
_STEP = 0.5
# A player is beyond a line by more than this, m.
_BEYOND = 0.1
_GOALS = {'Goal_Left': Side.LEFT, 'Goal_Right': Side.RIGHT}

RULES = (
    'charging', 'crowding', 'drop_ball', 'illegal_defence', 'incapable', 'keepaway',
    'kick_taker', 'pass_mode', 'positions', 'touching',
)  # fmt: skip
# Keepaway is a game of its own, which ends otherwise.
_ALL = frozenset(RULES) - {'keepaway'}
# SimSpark 0.7 has switched crowding off.
LEAGUE = _ALL - {'crowding'}

# Half the side of the square of keepaway at the start, m, and what it loses per second, m/s.
_KEEPAWAY_HALF = 10.0
_KEEPAWAY_LOSS = 2.0 / 60.0


class UnknownRule(UnknownName):
    """A name is not one of the rules."""

    def __init__(self, name: str) -> None:
        super().__init__('rule', name, ['league', 'all', 'none', *RULES])


def read_rules(text: str) -> frozenset[str]:
    """
    Return the rules of ``league``, ``all``, ``none``, or a list such as ``charging,touching``.

    ``all`` is without ``keepaway``, which would end every game.

    :raises UnknownRule: for another name.
    """
    named = {'league': LEAGUE, 'all': _ALL, 'none': frozenset[str]()}
    if text in named:
        return named[text]
    words = frozenset(word.strip() for word in text.split(','))
    for word in sorted(words - {*RULES}):
        raise UnknownRule(word)
    return words


@dataclass(frozen=True, slots=True)
class RefereeOptions:
    """
    What the referee does by itself.

    :ivar kick_off: when each half begins; None: when a trainer or a viewer commands it.
    :ivar rules: of `RULES`; goals, balls out of play and halves are always judged.
    """

    kick_off: KickOff | None = None
    rules: frozenset[str] = LEAGUE


@dataclass(frozen=True, slots=True)
class SetPiece:
    """
    How play resumes.

    :ivar mode: play mode; `place` of the ball, x and y in m; `side` that takes it.
    """

    mode: str
    place: tuple[float, float]
    side: Side


class SoccerReferee:
    """Enforces the rules; all methods are called in the thread of the cycle."""

    def __init__(self, options: RefereeOptions | None = None) -> None:
        self._options = options or RefereeOptions()
        self._log = LimitedLog(_LOG)
        self._stage: GameStage | None = None
        self._has_field = False
        self._agents_missing = False
        self._last_touch: Player | None = None
        self._kick_taker: Player | None = None
        self._since_kick = 0.0
        self._out: SetPiece | None = None
        self._out_seconds = 0.0
        self._last_time = 0.0
        self._ball_moves = 0
        self._mode = ''
        self._spot: np.ndarray | None = None
        self._fouls = Fouls(self._options.rules)
        self._pass_mode = PassMode()

    def begin(self, stage: GameStage) -> None:
        """Start with a world."""
        self._stage = stage
        stage.game.roster.enlist(stage.scene.robots)
        self._last_time = stage.scene.time
        # In any other world a ball is a thing like others, and stays where it is.
        self._has_field = stage.scene.has_field
        self._out = self._last_touch = self._kick_taker = self._spot = None
        self._fouls.reset()
        self._mode = ''

    def is_waiting_for(self, ready: Counter[Side]) -> bool:
        """Return whether the game cannot begin yet, for lack of agents."""
        rule, stage = self._options.kick_off, self._stage
        if rule is None or stage is None or stage.game.play_mode != BEFORE_KICK_OFF:
            return False
        self._agents_missing = rule.is_waiting_for(ready)
        return self._agents_missing

    def judge(self) -> None:
        """Evaluate the scene; change the game, and move ball and players as the rules demand."""
        stage = self._stage
        if stage is None:
            return
        passed = max(stage.scene.time - self._last_time, 0.0)
        self._last_time = stage.scene.time
        if stage.game.play_mode != self._mode:
            self._enter(stage)
        self._keep_time(stage)
        ball = stage.scene.ball
        if ball is not None and self._has_field:
            try:
                self._judge_play(stage, ball, passed)
            except BadCommand as error:
                self._log.warning('referee: %s', error)
        stage.game.pass_requests.clear()

    def _enter(self, stage: GameStage) -> None:
        """Follow a play mode that a client, or this referee, has set."""
        self._mode = stage.game.play_mode
        self._out = None
        self._spot = None if stage.scene.ball is None else stage.scene.ball.position.copy()
        if self._mode != PLAY_ON:
            self._kick_taker = None

    def _keep_time(self, stage: GameStage) -> None:
        game = stage.game
        if game.is_stopped:
            return
        if game.half == 1 and game.time >= game.rules.half_time:
            game.set_half(2)
            game.set_play_mode(BEFORE_KICK_OFF)
        elif game.half == 2 and game.time >= 2 * game.rules.half_time:
            game.set_play_mode(GAME_OVER)
        if game.is_stopped:
            self._enter(stage)

    def _judge_play(self, stage: GameStage, ball: BallBody, passed: float) -> None:
        game = stage.game
        if game.ball_moves != self._ball_moves:  # by a trainer, so nobody has touched it
            self._ball_moves = game.ball_moves
            self._last_touch = self._kick_taker = None
        if 'positions' in self._options.rules and any(game.teams.values()):
            self._keep_positions(stage, ball)
        if game.play_mode in STOPPED or game.play_mode in _GOALS:
            self._fouls.reset()
        if game.play_mode == BEFORE_KICK_OFF:
            self._before_kick_off(stage, ball)
        elif game.play_mode in _GOALS:
            if game.mode_seconds >= game.rules.goal_pause_time:
                self._centre(stage, ball)
                game.kick_off(_GOALS[game.play_mode].opponent)
                self._enter_at(stage, (0.0, 0.0))
        elif game.play_mode not in STOPPED:
            self._in_play(stage, ball, passed)

    def _before_kick_off(self, stage: GameStage, ball: BallBody) -> None:
        """Hold the ball in the centre (page: it is put back at once)."""
        game = stage.game
        present, rule = any(game.teams.values()), self._options.kick_off
        away = np.hypot(*ball.position[:2]) > _CENTRED or ball.position[2] > 2 * ball.radius
        if present and away:
            self._centre(stage, ball)
        if not present or rule is None:
            return
        if self._agents_missing:
            game.set_play_mode(BEFORE_KICK_OFF)  # the waiting time starts again
        seconds = game.rules.wait_before_kick_off if rule.seconds is None else rule.seconds
        if game.mode_seconds >= seconds and not self._agents_missing:
            self._centre(stage, ball)
            game.kick_off(Side.LEFT if game.half == 1 else Side.RIGHT)
            self._enter_at(stage, (0.0, 0.0))

    def _in_play(self, stage: GameStage, ball: BallBody, passed: float) -> None:
        game, rules = stage.game, self._options.rules
        touching = self._note_touch(stage, ball)
        if 'keepaway' in rules and is_ball_lost(stage, ball, touching):
            game.set_play_mode(GAME_OVER)
            self._enter(stage)
            return
        for player, kind in self._fouls.find(stage, touching, passed):
            game.foul(player, kind)
            stage.send_off(player)
        if 'pass_mode' in rules:
            self._pass_mode.update(stage, ball, touching, passed)
        if game.play_mode != self._mode:
            self._enter(stage)
        if 'kick_taker' in rules and self._kicks_twice(stage, ball, touching, passed):
            return
        scored = goal_of(stage, ball)
        if scored is not None:
            self._goal(stage, ball, scored)
            return
        if self._out is None:
            self._out = self._set_piece(stage, ball)
            self._out_seconds = 0.0
        else:
            self._out_seconds += passed
        if self._out is not None and self._out_seconds >= game.rules.kick_in_pause_time:
            self._restart(stage, ball, self._out)
        elif self._out is None and taker_of(game.play_mode) is not None:
            self._await_kick(stage, ball)

    def _await_kick(self, stage: GameStage, ball: BallBody) -> None:
        """Play on once the ball is kicked, or the time to kick it is over."""
        game = stage.game
        if self._spot is not None and np.hypot(*(ball.position - self._spot)[:2]) > MOVED:
            game.set_play_mode(PLAY_ON)
            self._enter(stage)
            if len(game.roster) > 2:
                self._kick_taker, self._since_kick = self._last_touch, 0.0
        elif game.mode_seconds >= SET_PIECE_SECONDS:
            if 'drop_ball' in self._options.rules:
                stage.drop_ball()
            game.set_play_mode(PLAY_ON)
            self._enter(stage)

    def _goal(self, stage: GameStage, ball: BallBody, side: Side) -> None:
        if side in stage.game.no_score:  # too early after its pass mode
            self._restart(stage, ball, _goal_kick(stage, ball, side.opponent))
            return
        stage.game.goal(side)
        self._enter(stage)

    def _restart(self, stage: GameStage, ball: BallBody, piece: SetPiece) -> None:
        stage.placement.move_ball((*piece.place, ball.radius), STILL)
        distance = stage.game.rules.free_kick_distance
        opponents = stage.game.roster.of_side(piece.side.opponent)
        stage.send_away(piece.place, distance, opponents)
        stage.game.set_play_mode(piece.mode)
        self._enter_at(stage, piece.place)

    def _enter_at(self, stage: GameStage, place: tuple[float, float]) -> None:
        """Enter a mode with the ball at a place; the scene does not show it there yet."""
        self._enter(stage)
        self._spot = np.array([*place, 0.0])

    def _centre(self, stage: GameStage, ball: BallBody) -> None:
        stage.placement.move_ball((0.0, 0.0, ball.radius), STILL)

    def _note_touch(self, stage: GameStage, ball: BallBody) -> set[Player]:
        """Return the players that touch the ball, and remember the nearest one."""
        nearest, touching = TOUCH, set()
        for player in stage.game.roster:
            robot = stage.scene.robots.get(player.robot)
            if robot is None:
                continue
            bodies = [body.id for body in robot.bodies.values()]
            away = np.linalg.norm(stage.scene.positions[bodies] - ball.position, axis=1).min()
            if away < TOUCH:
                touching.add(player)
            if away < nearest:
                nearest, self._last_touch = float(away), player
        return touching

    def _kicks_twice(
        self, stage: GameStage, ball: BallBody, touching: set[Player], passed: float
    ) -> bool:
        """Give a free kick when who took a kick touches the ball again before anyone else."""
        taker = self._kick_taker
        if taker is None:
            return False
        if touching - {taker}:
            self._kick_taker = None
        elif taker not in touching:
            self._since_kick += passed
        elif self._since_kick <= KICK_SECONDS:
            self._since_kick = 0.0
        else:
            opponents = taker.side.opponent
            place = stage.outside_areas(float(ball.position[0]), float(ball.position[1]))
            self._restart(stage, ball, SetPiece(f'free_kick_{opponents.value}', place, opponents))
            return True
        return False

    def _keep_positions(self, stage: GameStage, ball: BallBody) -> None:
        """Move players out of where they may not be before a kick."""
        game = stage.game
        mode, taker = game.play_mode, taker_of(game.play_mode)
        distance = game.rules.free_kick_distance
        scored = _GOALS.get(mode)
        if mode == BEFORE_KICK_OFF or mode.startswith('KickOff') or scored is not None:
            taker = taker if scored is None else scored.opponent
            for player in game.roster:
                self._to_own_half(stage, player, distance if player.side is taker else 0.0)
                if taker is not None and player.side is not taker:
                    stage.send_away((0.0, 0.0), distance, [player])
        elif taker is not None and self._spot is not None:
            opponents = game.roster.of_side(taker.opponent)
            place = float(self._spot[0]), float(self._spot[1])
            stage.send_away(place, distance, opponents)
            if mode.startswith('goal_kick'):
                self._out_of_area(stage, opponents, taker)

    def _to_own_half(self, stage: GameStage, player: Player, circle: float) -> None:
        """Move a player back that is in the opponents' half, and not in the centre circle."""
        if not stage.placement.is_movable(player.robot):
            return
        x, y, z = stage.base_position(player)
        if x * player.side.sign < -_BEYOND and np.hypot(x, y) > circle:
            back = player.side.sign * 1.1 * stage.game.rules.free_kick_distance
            while abs(y) < 20 and not stage.is_free(player, back, y):
                y += _STEP
            stage.placement.move_robot(player.robot, (back, y, z))

    def _out_of_area(self, stage: GameStage, players: list[Player], owner: Side) -> None:
        """Move players out of the penalty area of a team."""
        rules = stage.game.rules
        for player in players:
            x, y, z = stage.base_position(player)
            if not stage.placement.is_movable(player.robot) or not rules.in_area(owner, x, y):
                continue
            front = owner.sign * (rules.half_length - rules.penalty_length)
            out = front - owner.sign * 1.1 * rules.free_kick_distance
            while abs(y) < 20 and not stage.is_free(player, out, y):
                y += _STEP
            stage.placement.move_robot(player.robot, (out, y, z))

    def _set_piece(self, stage: GameStage, ball: BallBody) -> SetPiece | None:
        """Return how play resumes after a ball that is out, None for one that is not."""
        rules = stage.game.rules
        x, y = float(ball.position[0]), float(ball.position[1])
        side_of_line = Side.LEFT if x < 0 else Side.RIGHT
        last = side_of_line if self._last_touch is None else self._last_touch.side
        if abs(y) > rules.half_width + ball.radius:
            taker = last.opponent
            x = min(max(x, -rules.half_length), rules.half_length)
            place = (x, float(np.copysign(rules.half_width, y)))
            return SetPiece(f'KickIn_{taker.title}', place, taker)
        if abs(x) > rules.half_length + ball.radius:
            if last is not side_of_line:
                return _goal_kick(stage, ball, side_of_line)
            taker = last.opponent
            corner = side_of_line.sign * rules.half_length
            place = (corner, float(np.copysign(rules.half_width, y)))
            return SetPiece(f'corner_kick_{taker.value}', place, taker)
        return None


def taker_of(mode: str) -> Side | None:
    """
    Return the side that takes a kick-off or set piece, None in other play modes.

    >>> taker_of('KickIn_Left'), taker_of('PlayOn')
    (<Side.LEFT: 'left'>, None)
    """
    if mode in _GOALS or mode in MODES.values() or mode.startswith('offside'):
        return None
    return next((side for side in Side if mode.lower().endswith(f'_{side.value}')), None)


def goal_of(stage: GameStage, ball: BallBody) -> Side | None:
    """Return the side that has scored: the whole ball is behind the line between the posts."""
    rules = stage.game.rules
    x, y, z = ball.position.tolist()
    behind = rules.half_length + ball.radius < abs(x) < rules.half_length + rules.goal_depth
    if behind and abs(y) < rules.goal_width / 2 and z < rules.goal_height:
        return Side.LEFT if x > 0 else Side.RIGHT
    return None


def is_ball_lost(stage: GameStage, ball: BallBody, touching: set[Player]) -> bool:
    """
    Return whether the left team has lost the ball in keepaway.

    As in SimSpark, the right team touches it, or it has left a square in the middle of the field
    of 20 m a side, which loses 4 m per minute of the game.
    """
    half = _KEEPAWAY_HALF - _KEEPAWAY_LOSS * stage.game.time
    left_square = float(np.abs(ball.position[:2]).max()) > half
    return left_square or any(player.side is Side.RIGHT for player in touching)


def _goal_kick(stage: GameStage, ball: BallBody, side: Side) -> SetPiece:
    rules = stage.game.rules
    before = side.sign * (rules.half_length - GOAL_KICK)
    place = (before, float(np.copysign(rules.goal_width / 2, ball.position[1])))
    return SetPiece(f'goal_kick_{side.value}', place, side)


__all__ = [
    'LEAGUE', 'RULES', 'RefereeOptions', 'SetPiece', 'SoccerReferee', 'UnknownRule', 'goal_of',
    'is_ball_lost', 'read_rules', 'taker_of',
]  # fmt: skip
