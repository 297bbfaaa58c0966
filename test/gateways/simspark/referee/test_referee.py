# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The referee, in the soccer world with two players a side: times, goals, balls out of play."""

from collections import Counter
import contextlib
import math
from types import SimpleNamespace

import numpy as np
import pytest

from test.gateways.simspark.stage import SteppedWorld
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import BadKickOff
from urlab_ros_bridge.gateways.simspark.game.rules import KickOff
from urlab_ros_bridge.gateways.simspark.game.state import FoulType
from urlab_ros_bridge.gateways.simspark.referee.referee import read_rules
from urlab_ros_bridge.gateways.simspark.referee.referee import RefereeOptions
from urlab_ros_bridge.gateways.simspark.referee.referee import SET_PIECE_SECONDS
from urlab_ros_bridge.gateways.simspark.referee.referee import SoccerReferee
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.models.soccer import write_world

STILL = (0.0, 0.0, 0.0)


@pytest.fixture(scope='module')
def soccer(tmp_path_factory):
    world = SteppedWorld(model=write_world(tmp_path_factory.mktemp('two'), 2, 'page'))
    yield world
    world.close()


@pytest.fixture
def play(soccer):
    """Return a function: rules -> a game with two teams."""

    def begin(rules='league', **options):
        referee = SoccerReferee(RefereeOptions(rules=read_rules(rules), **options))
        game = soccer.play(referee=referee, keyframe='left_1_home')
        game.state.teams.update({Side.LEFT: 'A', Side.RIGHT: 'B'})
        return game

    return begin


@pytest.fixture
def game(play):
    return play()


def ball(game):
    return game.world.data.body('ball').xpos


def put_ball(game, place, velocity=STILL):
    game.world.placement.move_ball(place, velocity)


def put(game, robot, x, y):
    game.place(robot, (x, y, 0.39))


def place_of(game, robot):
    return game.world.data.body(f'{robot}_base_link').xpos[:2]


def in_play(game, touched=None):
    """Play on, with the ball touched last by a player of a side."""
    game.state.set_play_mode('PlayOn')
    if touched is not None:
        put(game, f'{touched}_1', 0.1 if touched == 'right' else -0.1, 0)
        put(game, 'left_1' if touched == 'right' else 'right_1', 0, 4)
    game.cycles(1)


def until_restart(game):
    game.cycles(1)
    game.wait(game.state.rules.kick_in_pause_time)
    game.cycles(1)


def test_before_the_kick_off_time_is_frozen_and_the_ball_of_two_teams_is_put_back(game, soccer):
    put_ball(game, (2.0, 1.0, 0.5), (1, 0, 0))
    game.cycles(2)
    assert np.hypot(*ball(game)[:2]) < 0.01
    game.cycles(20)
    assert game.state.play_mode == 'BeforeKickOff' and game.state.time == 0.0
    alone = soccer.play(referee=SoccerReferee())
    put_ball(alone, (2.0, 1.0, 0.1))
    alone.cycles(20)
    assert ball(alone)[0] > 1.5


@pytest.mark.parametrize(
    ('rule', 'ready', 'seconds'),
    [
        ('both', {Side.LEFT: 1}, None),
        ('both', {Side.LEFT: 2, Side.RIGHT: 1}, 2.0),
        ('3', {Side.LEFT: 1, Side.RIGHT: 1}, None),
        ('3', {Side.LEFT: 3}, 2.0),
        ('0.5s', {}, 0.5),
    ],
)
def test_each_half_begins_by_the_rule_for_the_kick_off(play, rule, ready, seconds):
    """`seconds` after the first team is there, and all agents that the rule wants."""
    game = play(kick_off=KickOff.parse(rule))
    ready = Counter(ready)
    game.agents = SimpleNamespace(ready=ready, cycle=lambda scene: {})
    for half, side in ((1, 'Left'), (2, 'Right')):
        game.state.set_half(half)
        game.state.set_play_mode('BeforeKickOff')
        game.cycles(2)
        game.state.mode_seconds = (seconds or 2.0) - 2.5 * CYCLE
        game.cycles(2)
        assert game.state.play_mode == 'BeforeKickOff'
        assert game.referee.is_waiting_for(ready) == (seconds is None)
        game.cycles(2)
        assert game.state.play_mode == (f'KickOff_{side}' if seconds else 'BeforeKickOff')


@pytest.mark.parametrize('text', ['0', '23', 'Both', '9999s', '1e3s'])
def test_an_unknown_kick_off_rule_is_refused_by_name(text):
    with pytest.raises(BadKickOff, match=repr(text)):
        KickOff.parse(text)


@pytest.mark.parametrize('side', list(Side))
def test_a_goal_counts_then_the_others_kick_off_from_the_centre(game, side):
    in_play(game)
    put_ball(game, (-side.sign * 8.8, 0.5, 0.2), (-side.sign * 6.0, 0, 0))
    for _ in range(30):
        game.cycles(1)
        if game.state.score[side]:
            break
        assert abs(ball(game)[0]) < 9 + 0.042 + 0.15
    assert game.state.play_mode == f'Goal_{side.title}'
    game.state.mode_seconds = game.state.rules.goal_pause_time - 2.5 * CYCLE
    game.cycles(2)
    assert game.state.play_mode == f'Goal_{side.title}' and abs(ball(game)[0]) > 9
    game.cycles(2)
    assert game.state.play_mode == f'KickOff_{side.opponent.title}'
    game.cycles(5)
    assert np.hypot(*ball(game)[:2]) < 0.02
    assert game.state.score == {side: 1, side.opponent: 0}


@pytest.mark.parametrize('place', [(9.1, 1.2, 0.2), (9.1, 0, 0.9), (8.99, 0, 0.2), (9.8, 0, 0.1)])
def test_a_ball_beside_above_before_or_behind_the_goal_is_no_goal(game, place):
    in_play(game)
    put_ball(game, place)
    game.cycles(1)
    assert sum(game.state.score.values()) == 0


@pytest.mark.parametrize(
    ('touched', 'out', 'mode', 'spot'),
    [
        ('left', (3.0, 6.2), 'KickIn_Right', (3.0, 6.0)),
        ('right', (3.0, -6.2), 'KickIn_Left', (3.0, -6.0)),
        ('left', (9.2, 3.0), 'goal_kick_right', (8.0, 1.05)),
        ('right', (9.2, 3.0), 'corner_kick_left', (9.0, 6.0)),
        ('right', (-9.2, 3.0), 'goal_kick_left', (-8.0, 1.05)),
        ('left', (-9.2, 3.0), 'corner_kick_right', (-9.0, 6.0)),
    ],
)
def test_a_ball_that_is_out_is_kicked_by_the_others_and_opponents_are_sent_away(
    play, touched, out, mode, spot
):
    game = play('none')
    in_play(game, touched)
    put_ball(game, (*out, 0.042))
    game.cycles(1)
    assert game.state.play_mode == 'PlayOn'
    other, x = 'left' if touched == 'right' else 'right', spot[0] * 0.9
    put(game, f'{touched}_1', x, spot[1] * 0.9)
    put(game, f'{other}_1', x, spot[1] * 0.7)
    until_restart(game)
    assert game.state.play_mode == mode
    game.cycles(2)
    np.testing.assert_allclose(ball(game)[:2], spot, atol=0.02)
    assert math.dist(place_of(game, f'{touched}_1'), spot) > 1.25
    np.testing.assert_allclose(place_of(game, f'{other}_1'), (x, spot[1] * 0.7), atol=0.1)
    put_ball(game, (spot[0] * 0.8, spot[1] * 0.8, 0.042))
    game.cycles(1)
    assert game.state.play_mode == 'PlayOn'


@pytest.mark.parametrize('rules', ['positions', 'none'])
def test_players_are_moved_out_of_where_they_may_not_be_before_a_kick(play, rules):
    """The team that kicks off may be in the centre circle; opponents neither there nor beyond."""
    game, moved = play(rules), rules == 'positions'
    game.state.kick_off(Side.LEFT)
    put(game, 'left_1', 0.5, 0.3)
    put(game, 'right_1', 0.6, -0.4)
    game.cycles(3)
    assert place_of(game, 'left_1')[0] == pytest.approx(0.5, abs=0.05)
    assert (place_of(game, 'right_1')[0] > 1.0) == moved
    put(game, 'left_1', 3.0, 2.0)
    put(game, 'right_1', -2.0, 0.0)
    game.cycles(3)
    assert (place_of(game, 'left_1')[0] < 0 < place_of(game, 'right_1')[0]) == moved
    game.state.set_play_mode('PlayOn')
    put_ball(game, (2.0, 2.0, 0.042))
    game.cycles(1)
    game.state.set_play_mode('free_kick_left')
    put(game, 'right_1', 2.5, 2.0)
    game.cycles(3)
    assert (math.dist(place_of(game, 'right_1'), (2, 2)) > 1.25) == moved
    game.state.set_play_mode('goal_kick_left')
    put(game, 'right_1', -8.0, 2.0)
    game.cycles(3)
    assert (place_of(game, 'right_1')[0] > -7.2) == moved


@pytest.mark.parametrize(
    ('time', 'place', 'touched', 'over'),
    [
        (0.0, (0.0, 0.0), 'left', False),
        (0.0, (0.0, 0.0), 'right', True),
        (119.0, (5.9, -5.9), None, False),  # 20 m a side, less 4 m a minute
        (121.0, (-6.01, 0.0), None, True),
        (121.0, (0.0, 6.01), None, True),
    ],
)
def test_keepaway_ends_when_the_right_team_or_the_outside_has_the_ball(
    play, time, place, touched, over
):
    game = play('keepaway')
    game.state.time = time
    put_ball(game, (*place, 0.042))
    in_play(game, touched)
    game.cycles(2)
    assert (game.state.play_mode == 'GameOver') == over


@pytest.mark.parametrize('rules', ['drop_ball', 'none'])
def test_a_kick_that_nobody_takes_ends_with_a_dropped_ball(play, rules):
    """RuleDropBallTime 15 s; the ball leaves the penalty area, and players the ball."""
    game = play(rules)
    put_ball(game, (8.0, 1.0, 0.042))
    put(game, 'left_1', 7.2, 2.5)
    game.state.set_play_mode('goal_kick_right')
    game.cycles(1)
    game.state.mode_seconds = SET_PIECE_SECONDS - 1.5 * CYCLE
    game.cycles(1)
    assert game.state.play_mode == 'goal_kick_right'
    game.cycles(2)
    assert game.state.play_mode == 'PlayOn'
    wanted = (7.2, 3.0) if rules == 'drop_ball' else (8.0, 1.0)
    np.testing.assert_allclose(ball(game)[:2], wanted, atol=0.02)
    assert (math.dist(place_of(game, 'left_1'), (7.2, 3.0)) > 1.2) == (rules == 'drop_ball')


@pytest.mark.parametrize(
    ('rules', 'between', 'mode'),
    [
        ('kick_taker', '', 'free_kick_right'),
        ('kick_taker', 'left_2', 'PlayOn'),
        ('none', '', 'PlayOn'),
    ],
)
def test_the_kick_off_taker_may_not_touch_the_ball_before_another_player(
    play, rules, between, mode
):
    game = play(rules)
    game.state.kick_off(Side.LEFT)
    game.cycles(1)
    put(game, 'left_1', -0.1, 0)  # touches the ball, which rolls
    game.cycles(2)
    put_ball(game, (0.6, 0, 0.042))
    game.cycles(10)
    assert game.state.play_mode == 'PlayOn'
    if between:
        put(game, between, 0.5, 0)
        game.cycles(2)
        put(game, between, 0, 4)
        game.cycles(10)
    put(game, 'left_1', 0.5, 0)
    game.cycles(2)
    assert game.state.play_mode == mode


def beside_ball(play):
    game = play('pass_mode')
    put(game, 'left_1', -0.4, 1.0)
    put_ball(game, (0, 1.0, 0.042))
    in_play(game)
    return game


def request_pass(game):
    game.state.pass_requests.add(game.state.roster.find(Side.LEFT, 1))
    game.cycles(1)
    return game.state.play_mode


def test_a_pass_is_granted_at_a_ball_at_rest_without_opponents(play):
    """Ball within 0.5 m at 0.05 m/s at most, opponents beyond 1 m; 4 s; 3 s until the next."""
    game = beside_ball(play)
    put(game, 'right_1', 0.8, 1.0)
    assert request_pass(game) == 'PlayOn'
    put(game, 'right_1', 1.2, 1.0)
    put_ball(game, (0, 1.0, 0.042), (0.3, 0, 0))
    assert request_pass(game) == 'PlayOn'
    put_ball(game, (0, 1.0, 0.042))
    game.cycles(1)
    assert request_pass(game) == 'pass_left'
    put(game, 'right_1', 0.3, 1.0)
    game.cycles(2)
    assert math.dist(place_of(game, 'right_1'), (0, 1)) > 0.95
    put(game, 'right_1', 1.2, 1.0)
    game.wait(4.0 - 3.5 * CYCLE)
    assert game.state.play_mode == 'pass_left'
    game.cycles(2)
    assert game.state.play_mode == 'PlayOn' and game.state.no_score == {Side.LEFT}
    assert request_pass(game) == 'PlayOn'  # too soon
    game.wait(3.0 - 2.5 * CYCLE)
    assert request_pass(game) == 'PlayOn'
    game.cycles(1)
    assert request_pass(game) == 'pass_left'


@pytest.mark.parametrize('another', [False, True])
def test_after_a_pass_another_player_or_ten_seconds_allow_a_goal(play, another):
    game = beside_ball(play)
    assert request_pass(game) == 'pass_left'
    put(game, 'left_1', -0.1, 1.0)  # touches the ball
    game.cycles(2)
    assert game.state.play_mode == 'PlayOn' and game.state.no_score == {Side.LEFT}
    put(game, 'left_1', -4, 1.0)
    put(game, 'left_2', 0.1 if another else -4, 1.0 if another else -1.0)
    game.cycles(2)
    put_ball(game, (9.2, 0, 0.1))
    game.cycles(1)
    assert game.state.play_mode == ('Goal_Left' if another else 'goal_kick_right')
    game.wait(CYCLE if another else 10.0)
    assert not game.state.no_score


@pytest.mark.parametrize('moved', [0, 1])
def test_a_touch_is_forgotten_when_a_trainer_moves_the_ball(game, moved):
    in_play(game, 'left')
    put_ball(game, (3.0, -1.0, 0.042))
    game.state.ball_moves += moved
    game.cycles(1)
    put_ball(game, (9.2, 3.0, 0.042))
    until_restart(game)
    # Nobody has touched it, so it counts as touched by the owner of the line.
    assert game.state.play_mode == ('corner_kick_left' if moved else 'goal_kick_right')


def test_a_foul_is_counted_and_its_player_stands_beside_the_field(play):
    game = play('crowding')
    for robot, x, y in (('left_1', 0.25, 0), ('left_2', -0.35, 0), ('right_1', 0, 0.7)):
        put(game, robot, x, y)
    in_play(game)
    game.cycles(1)
    (foul,) = game.state.fouls
    assert (foul.number, foul.kind, foul.player.robot) == (1, FoulType.CROWDING, 'left_2')
    np.testing.assert_allclose(np.abs(place_of(game, 'left_2')), [0.6 * 5, 6.5], atol=0.1)


def test_a_half_ends_then_the_game_by_the_clock(game):
    half = game.state.rules.half_time
    game.state.kick_off(Side.LEFT)
    game.state.set_time(half - 1.5 * CYCLE)
    game.cycles(1)
    assert game.state.half == 1
    game.cycles(6)
    assert (game.state.half, game.state.play_mode) == (2, 'BeforeKickOff')
    assert game.state.time == pytest.approx(half, abs=2 * CYCLE)
    game.state.kick_off(Side.RIGHT)
    game.state.set_time(2 * half - 0.5 * CYCLE)
    game.cycles(2)
    assert game.state.play_mode == 'GameOver'
    put_ball(game, (9.2, 0, 0.1))
    game.cycles(3)
    assert game.state.play_mode == 'GameOver' and not any(game.state.score.values())


NO_FIELD = """
<mujoco>
  <worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body>{}</worldbody>
</mujoco>
"""
BALL = '<body name="ball" pos="2 0 1"><freejoint/><geom size="0.1"/></body>'


@pytest.mark.parametrize('ball', ['', BALL], ids=['no ball', 'ball'])
def test_in_a_world_without_a_field_balls_stay_where_they_are(tmp_path, ball):
    path = tmp_path / 'world.xml'
    path.write_text(NO_FIELD.format(ball))
    with contextlib.closing(SteppedWorld(model=path)) as world:
        game = world.play(referee=SoccerReferee())
        game.state.teams[Side.LEFT] = 'A'
        game.cycles(3)
        assert not ball or world.scene.ball.position[0] == pytest.approx(2.0)
        assert game.state.play_mode == 'BeforeKickOff'
