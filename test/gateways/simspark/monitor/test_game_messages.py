# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Environment and game state, as on the page."""

from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import Rules
from urlab_ros_bridge.gateways.simspark.game.state import FoulType
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.monitor.messages import environment
from urlab_ros_bridge.gateways.simspark.monitor.messages import game_state
from urlab_ros_bridge.gateways.simspark.monitor.messages import report

# Network Protocol page, "Environment Information Message", without its line breaks.
PAGE_ENVIRONMENT = (
    '(FieldLength 18)(FieldWidth 12)(FieldHeight 40)(GoalWidth 2.1)(GoalDepth 0.6)(GoalHeight 0.8)'
    '(FreeKickDistance 1.3)(WaitBeforeKickOff 2)(AgentRadius 0.4)(BallRadius 0.042)'
    '(BallMass 0.026)(RuleGoalPauseTime 3)(RuleKickInPauseTime 1)(RuleHalfTime 300)'
    '(play_modes BeforeKickOff KickOff_Left KickOff_Right PlayOn KickIn_Left KickIn_Right '
    'corner_kick_left corner_kick_right goal_kick_left goal_kick_right offside_left offside_right '
    'GameOver Goal_Left Goal_Right free_kick_left free_kick_right'
)


def test_the_environment_is_that_of_the_page_with_what_came_since():
    text = environment(Rules()).decode()
    for entry in PAGE_ENVIRONMENT.replace(')(', ')\n(').split('\n'):
        assert entry in text
    newer = ('BorderSize', 'PassModeMinOppBallDist', 'PassModeDuration')
    kept = [e for e in text.replace(')(', ')\n(').split('\n') if not any(n in e for n in newer)]
    assert ''.join(kept).startswith(PAGE_ENVIRONMENT)


def test_the_game_state_is_that_of_the_page():
    before = report(GameState())
    assert game_state(before) == b'(time 0)(half 1)(score_left 0)(score_right 0)(play_mode 0)'
    assert game_state(before, before) == b'(time 0)'


def test_a_partial_state_has_the_time_and_what_has_changed():
    game = GameState()
    before = report(game)
    game.set_play_mode('PlayOn')
    game.advance(12.34)
    assert game_state(report(game), before) == b'(time 12.34)(play_mode 3)'
    before = report(game)
    game.side_of_team('Home')
    game.side_of_team('Away')
    game.goal(Side.RIGHT)
    game.set_half(2)
    assert game_state(report(game), before) == (
        b'(time 12.34)(half 2)(score_right 1)(play_mode 14)(team_left Home)(team_right Away)'
    )


def test_a_foul_is_sent_once_and_the_wait_after_a_pass_when_it_changes():
    game = GameState()
    player = game.roster.add(Side.RIGHT, 7, 'right_7')
    first = report(game)
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
