# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The referee, in the soccer world: times, goals, balls out of play."""

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
def soccer():
    world = SteppedWorld(world='soccer')
    yield world
    world.close()


@pytest.fixture
def game(soccer):
    game = soccer.play(referee=SoccerReferee(), keyframe='left_1_home')
    game.state.side_of_team('A')
    game.state.side_of_team('B')
    return game


def ball(game):
    return game.world.data.body('ball').xpos


def put_ball(game, place, velocity=STILL):
    game.world.placement.move_ball(place, velocity)


def in_play(game, mode='PlayOn', touched=None):
    """Begin a mode, with the ball touched last by a player of a side."""
    game.state.set_play_mode(mode)
    if touched is not None:
        game.world.placement.move_robot(
            f'{touched}_1', (0.1 if touched == 'right' else -0.1, 0, 0.39)
        )
        other = 'left' if touched == 'right' else 'right'
        game.world.placement.move_robot(f'{other}_1', (0, 4, 0.39))
    game.cycles(1)


def test_before_the_kick_off_time_is_frozen_and_the_ball_is_put_back(game):
    put_ball(game, (2.0, 1.0, 0.5), (1, 0, 0))
    game.cycles(2)
    assert np.hypot(*ball(game)[:2]) < 0.01 and game.state.time == 0.0
    game.cycles(200)
    assert game.state.play_mode == 'BeforeKickOff' and game.state.time == 0.0


def test_without_a_team_the_ball_may_lie_anywhere(soccer):
    game = soccer.play(referee=SoccerReferee())
    put_ball(game, (2.0, 1.0, 0.1))
    game.cycles(20)
    assert ball(game)[0] > 1.5


@pytest.mark.parametrize(
    ('rule', 'ready', 'seconds'),
    [
        ('both', {Side.LEFT: 1}, None),
        ('both', {Side.LEFT: 2, Side.RIGHT: 1}, 2.0),
        ('3', {Side.LEFT: 1, Side.RIGHT: 1}, None),
        ('3', {Side.LEFT: 3}, 2.0),
        ('0.5s', {}, 0.5),
        ('', {Side.LEFT: 1, Side.RIGHT: 1}, None),
    ],
)
def test_each_half_begins_by_the_rule_for_the_kick_off(soccer, rule, ready, seconds):
    """`seconds` after the first team is there, and all agents that the rule wants."""
    referee = SoccerReferee(RefereeOptions(kick_off=KickOff.parse(rule)))
    game = soccer.play(referee=referee)
    ready = Counter(ready)
    missing = rule in ('both', '3') and seconds is None
    game.agents = SimpleNamespace(ready=ready, cycle=lambda scene: {})
    game.state.side_of_team('A')
    for half, side in ((1, 'Left'), (2, 'Right')):
        game.state.set_half(half)
        game.state.set_play_mode('BeforeKickOff')
        game.cycles(round((seconds or 3.0) / CYCLE) - 2)
        assert game.state.play_mode == 'BeforeKickOff'
        assert referee.is_waiting_for(ready) == missing
        game.cycles(5)
        assert game.state.play_mode == (f'KickOff_{side}' if seconds else 'BeforeKickOff')


@pytest.mark.parametrize('text', ['0', '23', '-1', 'Both', '10 s', '9999s', 's', '1e3s'])
def test_an_unknown_kick_off_rule_is_refused_by_name(text):
    with pytest.raises(BadKickOff) as caught:
        KickOff.parse(text)
    assert repr(text) in str(caught.value)


def test_play_is_on_when_the_ball_is_moved_after_a_kick_off(game):
    game.state.kick_off(Side.LEFT)
    game.cycles(10)
    assert game.state.play_mode == 'KickOff_Left'
    put_ball(game, (0, 0, 0.042), (1.0, 0, 0))
    game.cycles(12)
    assert game.state.play_mode == 'PlayOn'


def test_play_is_on_when_nobody_takes_the_kick_off(game):
    game.state.kick_off(Side.RIGHT)
    game.cycles(1)
    game.state.mode_seconds = SET_PIECE_SECONDS - 2.5 * CYCLE
    game.cycles(2)
    assert game.state.play_mode == 'KickOff_Right'
    game.cycles(2)
    assert game.state.play_mode == 'PlayOn'


@pytest.mark.parametrize('side', list(Side))
def test_a_goal_counts_then_the_others_kick_off_from_the_centre(game, side):
    in_play(game)
    x = -side.sign * 8.8
    put_ball(game, (x, 0.5, 0.2), (-side.sign * 6.0, 0, 0))
    for _ in range(30):
        game.cycles(1)
        if game.state.score[side]:
            break
        assert abs(ball(game)[0]) < 9 + 0.042 + 0.15
    assert game.state.score == {side: 1, side.opponent: 0}
    assert game.state.play_mode == f'Goal_{side.title}'
    game.cycles(round(game.state.rules.goal_pause_time / CYCLE) - 2)
    assert game.state.play_mode == f'Goal_{side.title}' and abs(ball(game)[0]) > 9
    game.cycles(4)
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


@pytest.mark.parametrize('touched', ['left', 'right'])
@pytest.mark.parametrize('up', [1, -1])
def test_beyond_the_side_line_the_others_kick_in(game, touched, up):
    in_play(game, touched=touched)
    put_ball(game, (3.0, up * 6.2, 0.042))
    game.cycles(1)
    assert game.state.play_mode == 'PlayOn'
    game.cycles(round(game.state.rules.kick_in_pause_time / CYCLE) + 2)
    taker = {'left': 'Right', 'right': 'Left'}[touched]
    assert game.state.play_mode == f'KickIn_{taker}'
    game.cycles(2)
    np.testing.assert_allclose(ball(game)[:2], [3.0, up * 6.0], atol=0.02)
    put_ball(game, (3.0, up * 5.5, 0.042))
    game.cycles(1)
    assert game.state.play_mode == 'PlayOn'


@pytest.mark.parametrize(
    ('touched', 'x', 'mode', 'place'),
    [
        ('left', 9.2, 'goal_kick_right', (8.0, 1.05)),
        ('right', 9.2, 'corner_kick_left', (9.0, 6.0)),
        ('right', -9.2, 'goal_kick_left', (-8.0, 1.05)),
        ('left', -9.2, 'corner_kick_right', (-9.0, 6.0)),
    ],
)
def test_beyond_the_goal_line(game, touched, x, mode, place):
    in_play(game, touched=touched)
    put_ball(game, (x, 3.0, 0.042))
    game.cycles(round(game.state.rules.kick_in_pause_time / CYCLE) + 3)
    assert game.state.play_mode == mode
    game.cycles(2)
    np.testing.assert_allclose(ball(game)[:2], place, atol=0.02)


def test_opponents_are_sent_away_from_a_set_piece_and_own_players_stay(game):
    in_play(game, touched='left')
    for robot, x in (('left_1', 2.0), ('right_1', 4.0)):
        game.world.placement.move_robot(robot, (x, 5.6, 0.39))
    put_ball(game, (3.0, 6.3, 0.042))
    game.cycles(round(game.state.rules.kick_in_pause_time / CYCLE) + 4)
    assert game.state.play_mode == 'KickIn_Right'
    places = {r: game.world.data.body(f'{r}_base_link').xpos[:2] for r in ('left_1', 'right_1')}
    assert math.dist(places['left_1'], (3, 6)) > game.state.rules.free_kick_distance - 0.05
    np.testing.assert_allclose(places['right_1'], (4.0, 5.6), atol=0.1)


def referee(rules):
    return SoccerReferee(RefereeOptions(rules=read_rules(rules)))


@pytest.mark.parametrize('rules', ['positions', 'none'])
def test_players_in_the_wrong_half_are_moved_before_a_kick_off(soccer, rules):
    """The team that kicks off may be in the centre circle; opponents neither there nor beyond."""
    game = soccer.play(referee=referee(rules), keyframe='left_1_home')
    game.state.side_of_team('A')
    game.state.kick_off(Side.LEFT)
    game.place('left_1', (0.5, 0.3, 0.39))
    game.place('right_1', (0.6, -0.4, 0.39))
    game.cycles(3)
    places = [game.world.data.body(f'{r}_base_link').xpos[0] for r in ('left_1', 'right_1')]
    assert places[0] == pytest.approx(0.5, abs=0.05)
    assert (places[1] > 1.0) == (rules == 'positions')
    game.place('left_1', (3.0, 2.0, 0.39))
    game.place('right_1', (-2.0, 0.0, 0.39))
    game.cycles(3)
    places = [game.world.data.body(f'{r}_base_link').xpos[0] for r in ('left_1', 'right_1')]
    assert (places[0] < 0 < places[1]) == (rules == 'positions')


@pytest.mark.parametrize('rules', ['positions', 'none'])
def test_opponents_stay_away_from_a_free_kick_and_out_of_the_area_of_a_goal_kick(soccer, rules):
    game = soccer.play(referee=referee(rules), keyframe='left_1_home')
    game.state.side_of_team('A')
    game.state.set_play_mode('PlayOn')
    put_ball(game, (2.0, 2.0, 0.042))
    game.cycles(1)
    game.state.set_play_mode('free_kick_left')
    game.place('right_1', (2.5, 2.0, 0.39))
    game.cycles(3)
    where = game.world.data.body('right_1_base_link').xpos[:2]
    assert (math.dist(where, (2, 2)) > 1.25) == (rules == 'positions')
    game.state.set_play_mode('goal_kick_left')
    game.place('right_1', (-8.0, 2.0, 0.39))
    game.cycles(3)
    where = game.world.data.body('right_1_base_link').xpos[:2]
    assert (where[0] > -7.2) == (rules == 'positions')


@pytest.mark.parametrize('rules', ['keepaway', 'all'])
@pytest.mark.parametrize(
    ('time', 'place', 'touched', 'over'),
    [
        (0.0, (5.5, 0.0), None, False),
        (0.0, (0.0, 0.0), 'left', False),
        (0.0, (0.0, 0.0), 'right', True),
        (119.0, (5.9, -5.9), None, False),  # 20 m a side, less 4 m a minute
        (121.0, (-6.01, 0.0), None, True),
        (121.0, (0.0, 6.01), None, True),
    ],
)
def test_keepaway_ends_when_the_right_team_or_the_outside_has_the_ball(
    soccer, rules, time, place, touched, over
):
    game = soccer.play(referee=referee(rules), keyframe='left_1_home')
    game.state.time = time
    put_ball(game, (*place, 0.042))
    in_play(game, touched=touched)
    game.cycles(2)
    assert (game.state.play_mode == 'GameOver') == (over and rules == 'keepaway')


@pytest.mark.parametrize('rules', ['drop_ball', 'none'])
def test_a_kick_that_nobody_takes_ends_with_a_dropped_ball(soccer, rules):
    """RuleDropBallTime 15 s; the ball leaves the penalty area, and players the ball."""
    game = soccer.play(referee=referee(rules), keyframe='left_1_home')
    put_ball(game, (8.0, 1.0, 0.042))
    game.place('left_1', (7.2, 2.5, 0.39))
    game.state.set_play_mode('goal_kick_right')
    game.cycles(1)
    game.state.mode_seconds = SET_PIECE_SECONDS
    game.cycles(2)
    assert game.state.play_mode == 'PlayOn'
    wanted = (7.2, 3.0) if rules == 'drop_ball' else (8.0, 1.0)
    np.testing.assert_allclose(ball(game)[:2], wanted, atol=0.02)
    player = game.world.data.body('left_1_base_link').xpos[:2]
    assert (math.dist(player, (7.2, 3.0)) > 1.2) == (rules == 'drop_ball')


@pytest.fixture(scope='module')
def two_a_side(tmp_path_factory):
    world = SteppedWorld(model=write_world(tmp_path_factory.mktemp('two'), 2, 'page'))
    yield world
    world.close()


def kick(game, robot, other=None):
    """Let a player kick off: touch the ball, which rolls; away again."""
    game.state.kick_off(Side.LEFT)
    game.cycles(1)
    game.place(robot, (-0.1, 0, 0.39))
    game.cycles(2)
    put_ball(game, (0.6, 0, 0.042))
    game.cycles(10)
    assert game.state.play_mode == 'PlayOn'


@pytest.mark.parametrize('rules', ['kick_taker', 'none'])
@pytest.mark.parametrize('between', ['', 'left_2', 'right_2'])
def test_the_kick_off_taker_may_not_touch_the_ball_before_another_player(
    two_a_side, rules, between
):
    game = two_a_side.play(referee=referee(rules), keyframe='left_1_home')
    kick(game, 'left_1')
    if between:
        game.place(between, (0.5, 0, 0.39))
        game.cycles(2)
        game.place(between, (0, 4, 0.39))
        game.cycles(10)
    game.place('left_1', (0.5, 0, 0.39))
    game.cycles(2)
    free_kick = rules == 'kick_taker' and not between
    assert game.state.play_mode == ('free_kick_right' if free_kick else 'PlayOn')


@pytest.mark.parametrize('rules', ['pass_mode', 'none'])
def test_a_pass_is_granted_at_a_ball_at_rest_without_opponents(two_a_side, rules):
    """Ball within 0.5 m at 0.05 m/s at most, opponents beyond 1 m; 4 s; 3 s until the next."""
    game = two_a_side.play(referee=referee(rules), keyframe='left_1_home')
    game.place('left_1', (-0.4, 1.0, 0.39))
    put_ball(game, (0, 1.0, 0.042))
    in_play(game)
    player = game.state.roster.find(Side.LEFT, 1)

    def request(cycles=1):
        game.state.pass_requests.add(player)
        game.cycles(cycles)
        return game.state.play_mode

    game.place('right_1', (0.8, 1.0, 0.39))
    assert request() == 'PlayOn'
    game.place('right_1', (1.2, 1.0, 0.39))
    put_ball(game, (0, 1.0, 0.042), (0.3, 0, 0))
    assert request() == 'PlayOn'
    put_ball(game, (0, 1.0, 0.042))
    game.cycles(1)
    if rules == 'none':
        assert request() == 'PlayOn'
        return
    assert request() == 'pass_left'
    game.place('right_1', (0.3, 1.0, 0.39))
    game.cycles(2)
    away = game.world.data.body('right_1_base_link').xpos[:2]
    assert math.dist(away, (0, 1)) > 0.95
    game.cycles(round(4.0 / CYCLE))
    assert game.state.play_mode == 'PlayOn' and game.state.no_score == {Side.LEFT}
    assert request() == 'PlayOn'  # too soon
    game.cycles(round(3.0 / CYCLE))
    assert request() == 'pass_left'
    game.place('left_1', (-0.1, 1.0, 0.39))  # touches the ball
    game.cycles(3)
    assert game.state.play_mode == 'PlayOn'
    # Its team may not score for 10 s.
    game.place('left_1', (-4.0, 1.0, 0.39))
    put_ball(game, (9.2, 0, 0.1))
    game.cycles(1)
    assert game.state.play_mode == 'goal_kick_right' and sum(game.state.score.values()) == 0
    game.cycles(round(10.0 / CYCLE))
    assert not game.state.no_score


def test_after_a_pass_another_player_allows_a_goal(two_a_side):
    game = two_a_side.play(referee=referee('pass_mode'), keyframe='left_1_home')
    game.place('left_1', (-0.4, 1.0, 0.39))
    put_ball(game, (0, 1.0, 0.042))
    in_play(game)
    game.state.pass_requests.add(game.state.roster.find(Side.LEFT, 1))
    game.cycles(1)
    game.place('left_1', (-0.1, 1.0, 0.39))
    game.cycles(2)
    assert game.state.no_score == {Side.LEFT}
    game.place('left_1', (-4, 1.0, 0.39))
    game.place('left_2', (0.1, 1.0, 0.39))
    game.cycles(2)
    assert not game.state.no_score
    put_ball(game, (9.2, 0, 0.1))
    game.cycles(1)
    assert game.state.play_mode == 'Goal_Left'


def test_a_touch_is_forgotten_when_a_trainer_moves_the_ball(game):
    in_play(game, touched='left')
    put_ball(game, (3.0, -1.0, 0.042))
    game.state.ball_moves += 1
    game.cycles(1)
    put_ball(game, (9.2, 3.0, 0.042))
    game.cycles(round(game.state.rules.kick_in_pause_time / CYCLE) + 3)
    # Nobody has touched it, so it counts as touched by the owner of the line.
    assert game.state.play_mode == 'corner_kick_left'


@pytest.mark.parametrize('rules', ['incapable', 'none'])
def test_a_foul_is_counted_and_its_player_stands_beside_the_field(two_a_side, rules):
    game = two_a_side.play(referee=referee(rules), keyframe='left_1_home')
    put_ball(game, (3, 3, 0.042))
    in_play(game)
    game.place('left_2', (-3, 0, 0.12), (0, math.sqrt(0.5), 0, math.sqrt(0.5)))
    game.cycles(round(15.0 / CYCLE) + 10)
    lies = game.world.data.body('left_2_base_link').xmat[8] < 0.5
    assert lies == (rules == 'none')
    if rules == 'incapable':
        (foul,) = game.state.fouls
        assert (foul.number, foul.kind, foul.player.robot) == (1, FoulType.INCAPABLE, 'left_2')
        place = game.world.data.body('left_2_base_link').xpos
        np.testing.assert_allclose(place[:2], [-0.6 * 5, -6.5], atol=0.1)


def test_a_half_ends_then_the_game(game):
    game.state.kick_off(Side.LEFT)
    game.cycles(1)
    half = game.state.rules.half_time
    game.state.set_time(half - 1.5 * CYCLE)
    game.cycles(1)
    assert game.state.half == 1
    game.cycles(1)
    assert (game.state.half, game.state.play_mode) == (2, 'BeforeKickOff')
    game.cycles(5)
    assert game.state.time == pytest.approx(half, abs=2 * CYCLE)
    game.state.kick_off(Side.RIGHT)
    game.state.set_time(2 * half - 0.5 * CYCLE)
    game.cycles(2)
    assert game.state.play_mode == 'GameOver'
    put_ball(game, (9.2, 0, 0.1))
    game.cycles(3)
    assert game.state.play_mode == 'GameOver' and sum(game.state.score.values()) == 0


def test_a_trainer_that_changes_the_mode_while_the_ball_is_out_is_obeyed(game):
    in_play(game, touched='left')
    put_ball(game, (3.0, 6.3, 0.042))
    game.cycles(10)
    game.state.set_play_mode('free_kick_left')
    put_ball(game, (1.0, 1.0, 0.042))
    game.cycles(80)
    assert game.state.play_mode in ('free_kick_left', 'PlayOn')
    assert ball(game)[0] == pytest.approx(1.0, abs=0.1)


NO_FIELD = """
<mujoco>
  <worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body>{}</worldbody>
</mujoco>
"""
BALL = '<body name="ball" pos="2 0 1"><freejoint/><geom size="0.1"/></body>'


@pytest.mark.parametrize('ball', ['', BALL], ids=['no ball', 'ball'])
def test_a_world_without_a_field_is_judged_by_the_clock_alone(tmp_path, ball):
    path = tmp_path / 'world.xml'
    path.write_text(NO_FIELD.format(ball))
    with contextlib.closing(SteppedWorld(model=path)) as world:
        game = world.play(referee=SoccerReferee())
        game.state.side_of_team('A')
        game.cycles(3)
        assert not ball or world.scene.ball.position[0] == pytest.approx(2.0)
        assert game.state.play_mode == 'BeforeKickOff'
        game.state.kick_off(Side.LEFT)
        game.state.set_time(game.state.rules.half_time)
        game.cycles(1)
        assert game.state.half == 2
