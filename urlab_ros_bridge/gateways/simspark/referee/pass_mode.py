# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The pass mode: a player with the ball at rest gets room for a pass."""

from __future__ import annotations

import math

from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_ON
from urlab_ros_bridge.gateways.simspark.world.scene import BallBody
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage

# SimSpark's values: m/s, m and s.
MAX_BALL_SPEED = 0.05
MAX_BALL_DISTANCE = 0.5
SCORE_WAIT = 10.0
RETRY_WAIT = 3.0

MODES = {side: f'pass_{side.value}' for side in Side}


class PassMode:
    """
    Grants the pass mode, and says when a goal after it counts.

    A player requests it by (pass) in PlayOn, near a ball at rest, with no opponent near the ball.
    Opponents are kept away until the ball is touched, for ``pass_mode_duration`` at most.  After
    that, the team may not score before another player of it or an opponent has touched the ball,
    or 10 s have passed.
    """

    def __init__(self) -> None:
        self._since_end = dict.fromkeys(Side, math.inf)
        self._passer: Player | None = None
        self._touched_at_start = False

    def update(
        self, stage: GameStage, ball: BallBody, touching: set[Player], seconds: float
    ) -> None:
        """
        Begin and end the mode.

        :param touching: players that touch the ball.
        :param seconds: since the last cycle.
        """
        game = stage.game
        for side in Side:
            self._since_end[side] += seconds
            if self._since_end[side] >= SCORE_WAIT:
                game.no_score.discard(side)
        if self._passer is not None and any(p != self._passer for p in touching):
            game.no_score.discard(self._passer.side)
        active = next((side for side in Side if game.play_mode == MODES[side]), None)
        if active is not None:
            self._keep_away(stage, ball, active)
            begun = game.mode_seconds > 0.0 and bool(touching)
            if begun and not self._touched_at_start:
                self._end(stage, active, min(touching, key=lambda p: p.number))
            elif game.mode_seconds >= game.rules.pass_mode_duration:
                self._end(stage, active, None)
            self._touched_at_start &= bool(touching)
            return
        for player in sorted(game.pass_requests, key=lambda p: (p.side.value, p.number)):
            if self._may_begin(stage, ball, player):
                self._touched_at_start = bool(touching)
                game.set_play_mode(MODES[player.side])
                self._keep_away(stage, ball, player.side)
                return

    def _may_begin(self, stage: GameStage, ball: BallBody, player: Player) -> bool:
        game = stage.game

        def distance(other: Player) -> float:
            return math.dist(stage.base_position(other)[:2], ball.position[:2])

        return (
            game.play_mode == PLAY_ON
            and game.roster.of_robot(player.robot) == player
            and self._since_end[player.side] >= RETRY_WAIT
            and math.hypot(*ball.velocity) <= MAX_BALL_SPEED
            and distance(player) <= MAX_BALL_DISTANCE
            and all(
                distance(other) > game.rules.pass_mode_min_opp_ball_dist
                for other in game.roster.of_side(player.side.opponent)
            )
        )

    def _keep_away(self, stage: GameStage, ball: BallBody, side: Side) -> None:
        place = float(ball.position[0]), float(ball.position[1])
        opponents = stage.game.roster.of_side(side.opponent)
        stage.send_away(place, stage.game.rules.pass_mode_min_opp_ball_dist, opponents)

    def _end(self, stage: GameStage, side: Side, passer: Player | None) -> None:
        self._since_end[side], self._passer = 0.0, passer
        stage.game.no_score.add(side)
        stage.game.set_play_mode(PLAY_ON)


__all__ = ['MODES', 'PassMode']
