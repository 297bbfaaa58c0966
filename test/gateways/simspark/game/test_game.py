# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the game state: every change is whole or does not happen."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.simspark.errors import BadCommand
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.game.players import Roster
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import BadRule
from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.game.state import PLAY_MODES

PAGE = (
    'BeforeKickOff KickOff_Left KickOff_Right PlayOn KickIn_Left KickIn_Right corner_kick_left '
    'corner_kick_right goal_kick_left goal_kick_right offside_left offside_right GameOver '
    'Goal_Left Goal_Right free_kick_left free_kick_right'
)


def test_the_modes_of_the_page_have_its_numbers():
    assert list(PLAY_MODES[:17]) == PAGE.split()
    assert len(set(PLAY_MODES)) == len(PLAY_MODES) == 21


def test_the_rules_have_the_names_and_values_of_the_page():
    page = {
        'FieldLength': 18, 'FieldWidth': 12, 'FieldHeight': 40, 'GoalWidth': 2.1, 'GoalDepth': 0.6,
        'GoalHeight': 0.8, 'FreeKickDistance': 1.3, 'WaitBeforeKickOff': 2, 'AgentRadius': 0.4,
        'BallRadius': 0.042, 'BallMass': 0.026, 'RuleGoalPauseTime': 3, 'RuleKickInPauseTime': 1,
        'RuleHalfTime': 300,
    }  # fmt: skip
    named = Rules().named()
    assert [name for name in named if name in page] == list(page)
    assert {name: named[name] for name in page} == page


def test_a_world_changes_the_rules():
    rules = Rules().changed({'field_length': 30, 'stiffness': 7})
    assert rules.named()['FieldLength'] == 30 and rules.half_length == 15
    for bad in (-1, float('nan'), float('inf')):
        with pytest.raises(BadRule, match='field_width'):
            Rules().changed({'field_width': bad})


@pytest.mark.parametrize('mode', PLAY_MODES)
def test_time_stands_still_before_and_after_the_game_only(mode):
    game = GameState()
    game.set_play_mode(mode)
    game.advance(0.02)
    assert game.time == (0 if mode in ('BeforeKickOff', 'GameOver') else 0.02)
    assert game.mode_seconds == 0.02
    game.set_play_mode(mode)
    assert game.mode_seconds == 0


@pytest.mark.parametrize(
    'change',
    [
        lambda game: game.set_play_mode('playon'),
        lambda game: game.set_time(-0.1),
        lambda game: game.set_time(float('nan')),
        lambda game: game.set_score(1, -1),
        lambda game: game.set_half(3),
    ],
)
def test_what_makes_no_sense_changes_nothing(change):
    game, same = GameState(), GameState()
    with pytest.raises(BadCommand):
        change(game)
    assert (game.play_mode, game.time, game.score) == (same.play_mode, same.time, same.score)


def test_a_goal_counts_and_changes_the_mode():
    game = GameState()
    game.goal(Side.RIGHT)
    assert game.score == {Side.LEFT: 0, Side.RIGHT: 1} and game.play_mode == 'Goal_Right'
    game.restart()
    assert game.score == {Side.LEFT: 0, Side.RIGHT: 0} and game.play_mode == 'BeforeKickOff'


def test_a_kick_off_without_a_side_is_a_toss():
    game = GameState()
    assert game.kick_off(Side.LEFT) is Side.LEFT and game.play_mode == 'KickOff_Left'
    assert {game.kick_off(None) for _ in range(50)} == set(Side)


def test_the_first_team_is_the_left_the_second_the_right_a_third_has_no_side():
    game = GameState()
    sides = [game.side_of_team(name) for name in ('a', 'b', 'a', 'c', 'b')]
    assert sides == [Side.LEFT, Side.RIGHT, Side.LEFT, None, Side.RIGHT]


def test_one_player_is_selected_at_a_time_and_the_next_one_follows():
    game = GameState()
    assert game.select_next() is None
    game.roster.enlist(['right_2', 'left_4', 'left_1'])
    chosen = [game.select_next().robot for _ in range(4)]
    assert chosen == ['left_1', 'left_4', 'right_2', 'left_1']
    game.leave(game.selected)
    assert game.selected is None and len(game.roster) == 2


@given(st.lists(st.sampled_from(['rover', 'arm', 'left_3', 'right_11', 'left12', 'right1', 'x'])))
def test_each_robot_plays_once_and_each_number_is_taken_once(robots):
    roster = Roster()
    roster.enlist(robots)
    assert sorted(p.robot for p in roster) == sorted(set(robots))
    assert len({(p.side, p.number) for p in roster}) == len(roster)
    if 'left_3' in robots:
        assert roster.find(Side.LEFT, 3).robot == 'left_3'


def test_there_are_22_places():
    roster = Roster()
    roster.enlist(f'robot{i}' for i in range(30))
    assert len(roster) == 2 * MAX_NUMBER
    assert roster.free_number(Side.LEFT) is None
    assert roster.add(Side.LEFT, 12, 'late') is None
    roster.remove(roster.find(Side.LEFT, 5))
    assert roster.free_number(Side.LEFT) == 5
