# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The changes of the game state; the environment and a full state are in the transcripts."""

from pathlib import Path

import pytest

from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.state import FoulType
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.messages import game_state
from urlab_ros_bridge.gateways.simspark.monitor.messages import LogFile
from urlab_ros_bridge.gateways.simspark.monitor.messages import LogNotWritable
from urlab_ros_bridge.gateways.simspark.monitor.messages import report


def test_a_foul_is_sent_once_and_the_wait_after_a_pass_when_it_changes():
    game = GameState()
    game.teams[Side.LEFT] = 'Home'
    player = game.roster.add(Side.RIGHT, 7, 'right_7')
    first = report(game)
    assert b'(team_left Home)' in game_state(first)
    game.foul(player, FoulType.CHARGING)
    game.no_score.add(Side.LEFT)
    second = report(game)
    assert game_state(second, first) == (b'(time 0)(pass_mode_score_wait_left 1)(foul 1 6 2 7)')
    for _ in range(40):
        game.foul(player, FoulType.TOUCHING)
    game.no_score.clear()
    third = report(game)
    text = game_state(third, second)
    assert text.startswith(b'(time 0)(pass_mode_score_wait_left 0)(foul ')
    assert text.count(b'(foul ') == 32 and text.endswith(b'(foul 41 1 2 7)')
    assert game_state(third, third) == b'(time 0)' and b'foul' not in game_state(third)


def test_a_log_that_cannot_be_written_ends_and_the_game_continues(tmp_path, caplog):
    with pytest.raises(LogNotWritable, match=str(tmp_path)):
        LogFile(tmp_path)
    log = LogFile(Path('/dev/full'))
    assert log.is_clear and not log.send(b'(time 0)')
    assert not log.is_clear and not log.send(b'(time 1)') and '/dev/full' in caplog.text
    log.close()
