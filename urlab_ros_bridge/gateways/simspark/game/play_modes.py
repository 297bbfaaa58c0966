# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The play modes; on the wire a mode is its place in this list."""

from __future__ import annotations

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
INDEX = {mode: index for index, mode in enumerate(PLAY_MODES)}

# The clock of the game is stopped in these.
STOPPED = frozenset({BEFORE_KICK_OFF, GAME_OVER})

__all__ = ['BEFORE_KICK_OFF', 'GAME_OVER', 'INDEX', 'PLAY_MODES', 'PLAY_ON', 'STOPPED']
