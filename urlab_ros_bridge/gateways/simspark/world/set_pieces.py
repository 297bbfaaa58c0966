# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Moves of ball and players that belong to rules: for trainers and a referee alike."""

from __future__ import annotations

import math

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.play_modes import PLAY_ON
from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.world.roles import GameStage

# Where a player waits that was sent off the field: so far apart, so far beside the line (m).
_APART = 0.6
_BESIDE = 0.5
_STILL = (0.0, 0.0, 0.0)


def drop_ball(stage: GameStage) -> None:
    """
    Let the ball rest where it is, on the field; send all players away from it; play on.

    :raises BadCommand: when the world has no ball.
    :raises UrlabError: when the server refuses.
    """
    ball, rules = stage.scene.ball, stage.game.rules
    if ball is None:
        raise BadCommand('this world has no ball to drop')
    x = min(max(float(ball.position[0]), -rules.half_length), rules.half_length)
    y = min(max(float(ball.position[1]), -rules.half_width), rules.half_width)
    stage.placement.move_ball((x, y, ball.radius), _STILL)
    send_away(stage, (x, y), rules.free_kick_distance)
    stage.game.set_play_mode(PLAY_ON)


def send_away(
    stage: GameStage, place: tuple[float, float], distance: float, side: Side | None = None
) -> None:
    """
    Move the players that are nearer to a place straight away from it.

    Those on the place itself go towards their own goal.  Robots that are fixed stay.

    :param place: x and y, m; `distance` m.
    :param side: whose players; None: all.
    :raises UrlabError: when the server refuses.
    """
    for player in stage.game.roster:
        if side not in (None, player.side) or not stage.placement.is_movable(player.robot):
            continue
        x, y, z = base_position(stage, player)
        away = x - place[0], y - place[1]
        length = math.hypot(*away)
        if length >= distance:
            continue
        if length < 1e-6:
            away, length = (float(player.side.sign), 0.0), 1.0
        scale = distance / length
        target = place[0] + away[0] * scale, place[1] + away[1] * scale, z
        stage.placement.move_robot(player.robot, target)


def send_off(stage: GameStage, player: Player) -> None:
    """
    Put a player upright beside the field, in its own half, on the side away from the ball.

    :raises BadCommand: when its robot is fixed.
    :raises UrlabError: when the server refuses.
    """
    ball = stage.scene.ball
    up = ball is None or ball.position[1] <= 0
    y = (stage.game.rules.half_width + _BESIDE) * (1 if up else -1)
    x = player.side.sign * _APART * (7 - player.number)
    height = standing_height(stage, player)
    stage.placement.move_robot(player.robot, (x, y, height), math.copysign(math.pi / 2, -y))


def base_position(stage: GameStage, player: Player) -> tuple[float, float, float]:
    """Return where the base of a player is, m in the world."""
    scene = stage.scene
    x, y, z = scene.positions[scene.robots[player.robot].base.id].tolist()
    return x, y, z


def standing_height(stage: GameStage, player: Player) -> float:
    """Return the height of a player's base in the world as it was made, m."""
    scene = stage.scene
    return scene.world.reference_pose(scene.robots[player.robot].base.id).position[2]


__all__ = ['base_position', 'drop_ball', 'send_away', 'send_off', 'standing_height']
