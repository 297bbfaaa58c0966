# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The environment and the game state as monitors read them."""

from __future__ import annotations

from typing import NamedTuple

from urlab_ros_bridge.gateways.simspark.game.play_modes import INDEX
from urlab_ros_bridge.gateways.simspark.game.play_modes import PLAY_MODES
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write


def environment(rules: Rules) -> bytes:
    """
    Return the entries of the environment information message.

    Network Protocol page, "Environment Information Message"; the play modes are those that the
    game state refers to by their places.
    """
    numbers: list[list[Writable]] = [[name, float(value)] for name, value in rules.named().items()]
    return write(*numbers, ['play_modes', *PLAY_MODES])


class GameReport(NamedTuple):
    """What monitors see of a game."""

    time: float
    half: int
    score_left: int
    score_right: int
    play_mode: int
    team_left: str
    team_right: str


def report(game: GameState) -> GameReport:
    """Return what monitors see of a game now."""
    return GameReport(
        game.time,
        game.half,
        game.score[Side.LEFT],
        game.score[Side.RIGHT],
        INDEX[game.play_mode],
        game.teams[Side.LEFT],
        game.teams[Side.RIGHT],
    )


def game_state(now: GameReport, before: GameReport | None = None) -> bytes:
    """
    Return the entries of a game state message: the time, and what differs from `before`.

    Network Protocol page, "GameState Message".  Team names come as SimSpark has them, once there
    are any.
    """
    entries: list[list[Writable]] = [['time', float(now.time)]]
    for name in ('half', 'score_left', 'score_right', 'play_mode'):
        value = getattr(now, name)
        if before is None or value != getattr(before, name):
            entries.append([name, value])
    for name in ('team_left', 'team_right'):
        team = getattr(now, name)
        if team and (before is None or team != getattr(before, name)):
            entries.append([name, team])
    return write(*entries)


__all__ = ['GameReport', 'environment', 'game_state', 'report']
