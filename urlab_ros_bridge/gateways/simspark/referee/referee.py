# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A small referee: times, goals, balls out of play, kick-offs.

It is deterministic: its decisions follow from the scenes that it sees.  It knows no fouls, no
offside and no pass mode; the play modes of these are for trainers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import logging

import numpy as np

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import BEFORE_KICK_OFF
from urlab_ros_bridge.gateways.simspark.game.state import GAME_OVER
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_ON
from urlab_ros_bridge.gateways.simspark.game.state import STOPPED
from urlab_ros_bridge.gateways.simspark.limited_log import LimitedLog
from urlab_ros_bridge.gateways.simspark.referee.kick_off import KickOff
from urlab_ros_bridge.gateways.simspark.world.scene import BallBody
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.gateways.simspark.world.stage import STILL

_LOG = logging.getLogger(__name__)

# A ball that is so near to the origin of a body of a player is touched by it, m.
TOUCH = 0.17
# Play resumes when the ball has been moved this far from its place, m, or after this long, s.
MOVED = 0.1
SET_PIECE_SECONDS = 15.0
# Where a goal kick is taken, before the goal line, m.
GOAL_KICK = 1.0
# Before the kick-off the ball may be off the centre by so much, m, and so fast, m/s.
_CENTRED = 0.01
_GOALS = {'Goal_Left': Side.LEFT, 'Goal_Right': Side.RIGHT}


@dataclass(frozen=True, slots=True)
class RefereeOptions:
    """
    What the referee does by itself.

    :ivar kick_off: when each half begins; None: when a trainer or a viewer says so.
    """

    kick_off: KickOff | None = None


@dataclass(frozen=True, slots=True)
class SetPiece:
    """
    How play resumes when the ball was out.

    :ivar mode: play mode; `place` of the ball, x and y in m; `side` that takes it.
    """

    mode: str
    place: tuple[float, float]
    side: Side


class SoccerReferee:
    """Keeps the rules; see `Referee`."""

    def __init__(self, options: RefereeOptions | None = None) -> None:
        self._options = options or RefereeOptions()
        self._log = LimitedLog(_LOG)
        self._stage: GameStage | None = None
        self._has_field = False
        self._agents_missing = False
        self._last_touch: Side | None = None
        self._out: SetPiece | None = None
        self._out_seconds = 0.0
        self._last_time = 0.0
        self._mode = ''
        self._spot: np.ndarray | None = None

    def begin(self, stage: GameStage) -> None:
        """Take a world."""
        self._stage = stage
        stage.game.roster.enlist(stage.scene.robots)
        self._last_time = stage.scene.time
        # In any other world a ball is a thing like others, and stays where it is.
        self._has_field = stage.scene.has_field
        self._out = self._last_touch = self._spot = None
        self._mode = ''

    def is_waiting_for(self, ready: Counter[Side]) -> bool:
        """Return whether the game cannot begin yet, for lack of agents."""
        rule, stage = self._options.kick_off, self._stage
        if rule is None or stage is None or stage.game.play_mode != BEFORE_KICK_OFF:
            return False
        self._agents_missing = rule.is_waiting_for(ready)
        return self._agents_missing

    def judge(self) -> None:
        """Look at the scene; change the game, and place the ball where the rules ask for it."""
        stage = self._stage
        if stage is None:
            return
        passed = max(stage.scene.time - self._last_time, 0.0)
        self._last_time = stage.scene.time
        if stage.game.play_mode != self._mode:
            self._enter(stage)
        self._keep_time(stage)
        ball = stage.scene.ball
        if ball is None or not self._has_field:
            return
        try:
            self._judge_ball(stage, ball, passed)
        except BadCommand as error:
            self._log.warning('referee: %s', error)

    def _enter(self, stage: GameStage) -> None:
        """Notice a play mode that a client, or this referee, has set."""
        self._mode = stage.game.play_mode
        self._out = None
        self._spot = None if stage.scene.ball is None else stage.scene.ball.position.copy()

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

    def _judge_ball(self, stage: GameStage, ball: BallBody, passed: float) -> None:
        game = stage.game
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
            game.set_play_mode(BEFORE_KICK_OFF)  # the waiting time begins anew
        seconds = game.rules.wait_before_kick_off if rule.seconds is None else rule.seconds
        if game.mode_seconds >= seconds and not self._agents_missing:
            self._centre(stage, ball)
            game.kick_off(Side.LEFT if game.half == 1 else Side.RIGHT)
            self._enter_at(stage, (0.0, 0.0))

    def _in_play(self, stage: GameStage, ball: BallBody, passed: float) -> None:
        game = stage.game
        self._note_touch(stage, ball)
        scored = goal_of(stage, ball)
        if scored is not None:
            game.goal(scored)
            self._enter(stage)
            return
        if self._out is None:
            self._out = self._set_piece(stage, ball)
            self._out_seconds = 0.0
        else:
            self._out_seconds += passed
        if self._out is not None and self._out_seconds >= game.rules.kick_in_pause_time:
            self._restart(stage, ball, self._out)
        elif self._out is None and game.play_mode != PLAY_ON:
            moved = self._spot is not None and np.hypot(*(ball.position - self._spot)[:2]) > MOVED
            if moved or game.mode_seconds >= SET_PIECE_SECONDS:
                game.set_play_mode(PLAY_ON)
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

    def _note_touch(self, stage: GameStage, ball: BallBody) -> None:
        """Remember the side whose player is nearest to the ball, if it is near enough."""
        nearest = TOUCH
        for player in stage.game.roster:
            robot = stage.scene.robots.get(player.robot)
            if robot is None:
                continue
            bodies = [body.id for body in robot.bodies.values()]
            away = np.linalg.norm(stage.scene.positions[bodies] - ball.position, axis=1).min()
            if away < nearest:
                nearest, self._last_touch = float(away), player.side

    def _set_piece(self, stage: GameStage, ball: BallBody) -> SetPiece | None:
        """Return how play resumes after a ball that is out, None for one that is not."""
        rules = stage.game.rules
        x, y = float(ball.position[0]), float(ball.position[1])
        side_of_line = Side.LEFT if x < 0 else Side.RIGHT
        last = self._last_touch or side_of_line
        if abs(y) > rules.half_width + ball.radius:
            taker = last.opponent
            x = min(max(x, -rules.half_length), rules.half_length)
            place = (x, float(np.copysign(rules.half_width, y)))
            return SetPiece(f'KickIn_{taker.title}', place, taker)
        if abs(x) > rules.half_length + ball.radius:
            if last is side_of_line:
                taker = last.opponent
                corner = side_of_line.sign * rules.half_length
                place = (corner, float(np.copysign(rules.half_width, y)))
                return SetPiece(f'corner_kick_{taker.value}', place, taker)
            before = side_of_line.sign * (rules.half_length - GOAL_KICK)
            place = (before, float(np.copysign(rules.goal_width / 2, y)))
            return SetPiece(f'goal_kick_{side_of_line.value}', place, side_of_line)
        return None


def goal_of(stage: GameStage, ball: BallBody) -> Side | None:
    """Return the side that has scored: the whole ball is behind the line between the posts."""
    rules = stage.game.rules
    x, y, z = ball.position.tolist()
    behind = rules.half_length + ball.radius < abs(x) < rules.half_length + rules.goal_depth
    if behind and abs(y) < rules.goal_width / 2 and z < rules.goal_height:
        return Side.LEFT if x > 0 else Side.RIGHT
    return None


__all__ = ['RefereeOptions', 'SetPiece', 'SoccerReferee', 'goal_of']
