# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer commands: their effects, and that invalid ones have none."""

from itertools import combinations
import math

from pitch import HEIGHT
from pitch import Pitch
import pytest

from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.wire.expressions import read

QUARTER = round(math.pi / 2, 9)


@pytest.fixture
def pitch():
    return Pitch()


def send(pitch, text, **options):
    for _ in pitch.trainers(**options).received(pitch.reply, read(text.encode())):
        pass
    return pitch.moves.calls


@pytest.mark.parametrize(
    ('text', 'call'),
    [
        ('(agent (unum 2)(team Left)(pos 1 2 0.5))', ('left_2', [1, 2, 0.5], None)),
        # Degrees: 0 looks along y, -90 at the right goal, along x.
        ('(agent (unum 2)(team Left)(move 1 2 0.5 -90))', ('left_2', [1, 2, 0.5], 0)),
        ('(agent (unum 1)(team Right)(move 1 2 0.5 180))', ('right_1', [1, 2, 0.5], -QUARTER)),
        # In the floor, as by the mouse: it stands.
        ('(agent (team Left)(unum 2)(pos 1 2 0))', ('left_2', [1, 2, HEIGHT], None)),
        ('(ball (vel 1 -2 3e0))', ('ball', None, [1, -2, 3])),
        ('(ball (vel 1 0 0)(pos 3 1 1))', ('ball', [3, 1, 1], [1, 0, 0])),
        ('(ball (pos 1 2 0.00))', ('ball', [1, 2, 0.04], None)),  # RoboViz: on the floor
        ('(kill (unum 2)(team Left))', ('remove', 'left_2')),
        ('(select (unum 1)(team Right))(kill)', ('remove', 'right_1')),
        # On the side away from the ball, looking at the field.
        ('(repos (unum 2)(team Left))', ('left_2', [-3, -6.5, HEIGHT], QUARTER)),
        ('(select (unum 1)(team Right))(repos)', ('right_1', [3.6, -6.5, HEIGHT], QUARTER)),
    ],
)
def test_a_command_moves_what_it_names_and_sets_no_condition(pitch, text, call):
    assert send(pitch, text) == [call] and not pitch.game.conditions
    # One that was killed takes no part any more.
    gone = [call[1]] if call[0] == 'remove' else []
    assert set(gone).isdisjoint(player.robot for player in pitch.game.roster)


def test_the_condition_of_an_agent_is_kept(pitch):
    assert not send(pitch, '(agent (team Right)(temperature 60.5)(unum 1)(battery 12))')
    condition = pitch.game.condition(pitch.game.roster.find(Side.RIGHT, 1))
    assert (condition.battery, condition.temperature) == (12, 60.5)


def test_kick_off_of_none_is_a_toss(pitch):
    modes = set()
    for _ in range(40):
        send(pitch, '(kickOff None)')
        modes.add(pitch.game.play_mode)
    assert modes == {'KickOff_Left', 'KickOff_Right'}


def test_the_ball_is_dropped_on_the_field_and_players_stand_back(pitch):
    calls = send(pitch, '(dropBall)')
    distance = pitch.game.rules.free_kick_distance
    assert calls == [
        ('ball', [1, 2, 0.04], [0, 0, 0]),
        ('left_1', [1, 2 - distance, 0.3], None),
        # On the ball: towards its own goal.  9 is fixed, 2 is far away.
        ('right_1', [1 + distance, 2, 0.3], None),
    ]
    assert pitch.game.play_mode == 'PlayOn'
    pitch.scene.ball.position[:] = 20, -7, 3
    assert send(pitch, '(dropBall)')[3] == ('ball', [9, -6, 0.04], [0, 0, 0])


def test_players_that_are_moved_do_not_stand_in_each_other(pitch):
    pitch.scene.positions[:2] = (1.0, 1.5, 0.3), (1.0, 0.6, 0.3)
    pitch.moves.is_movable = lambda robot: True
    send(pitch, '(dropBall)')
    placed = list(pitch.scene.placed.values())
    assert len(placed) > 2 and all(
        math.dist(each, (1, 2)) == pytest.approx(1.3) for each in placed
    )
    assert min(math.dist(a, b) for a, b in combinations([*placed, (1, 0.6)], 2)) > 0.49
    pitch.scene.placed['left_1'] = -3, -6.5
    send(pitch, '(repos (unum 2)(team Left))')
    assert 0.49 < math.dist(pitch.scene.placed['left_2'], (-3, -6.5)) < 0.6


def test_one_player_is_selected_by_name_or_in_turn(pitch):
    for text, robot in [
        ('(select)', 'left_1'), ('(select)', 'left_2'),
        ('(select (unum 1)(team Right))', 'right_1'),
        ('(select (unum 1)(team None))', 'left_1'), ('(select (unum -1))', None),
    ]:  # fmt: skip
        send(pitch, text)
        assert (pitch.game.selected and pitch.game.selected.robot) == robot


def test_killsim_is_an_option(pitch, caplog):
    kills = []
    send(pitch, '(killsim)')
    assert '--allow-killsim' in caplog.text
    send(pitch, '(killsim)', kill=lambda: kills.append('killed'))
    assert kills == ['killed']


def test_other_clients_have_their_turn_after_each_of_a_limited_number_of_commands(pitch):
    turns = pitch.trainers().received(pitch.reply, read(b'(time 1)(time 2)(getAck mine)'))
    assert [pitch.game.time for _ in turns] == [1, 2, 2] and pitch.reply.got == [b'(ack mine)']
    for count, time in ((257, 2), (256, 3)):
        send(pitch, f'({"(time 3)" * count})')
        assert pitch.game.time == time


def test_only_what_was_carried_out_is_acknowledged(pitch):
    send(pitch, '(ball (pos x 0 0))(getAck bad)(time 1)(getAck good)(getAck)(getAck (a))')
    send(pitch, '((time 2)(playMode none)(getAck worse))((time 3)(getAck better))')
    assert pitch.reply.got == [b'(ack good)', b'(ack better)']
    assert pitch.game.time == 3


@pytest.mark.parametrize(
    'text',
    [
        '(agent (team Left)(pos 1 2 3))', '(agent (unum 3)(team Left)(pos 1 2 3))',
        '(agent (unum 2)(team left_)(pos 1 2 3))', '(agent (unum 2)(team (Left))(pos 1 2 3))',
        '(agent (unum 2)(team Left)(pos 1 2 3)(move 1 2 3))',
        '(agent (unum 2)(team Left)(pos 1 2 3)(battery full))',
        '(agent (unum 9)(team Left)(pos 1 2 3))', '(agent (unum 2.5)(team Left)(pos 1 2 3))',
        '(ball (pos 1 2 3 4))', '(ball (pos (1) 2 3))', '(playMode playon)', '(playMode)',
        '(kickOff Middle)', '(kill)', '(repos)', '(select (unum 7)(team Right))',
        '(repos (unum 9)(team Left))', '(time)', '(time -1)', '(score (left 1))',
        '(score (left 1)(right -1))', '(unknown)', '()', 'atom', '(("x"))', '(getAck)',
    ],
)  # fmt: skip
def test_a_bad_command_changes_nothing_and_is_logged(pitch, text, caplog):
    before = pitch.state()
    send(pitch, text)
    assert pitch.state() == before
    assert 'trainer: ' in caplog.text


@pytest.mark.parametrize(
    'text',
    [
        '(agent (unum 2)(team Left)(pos # # #))', '(agent (unum 2)(team Left)(move # # # #))',
        '(agent (unum 2)(team Left)(battery #))', '(agent (unum 2)(team Left)(temperature #))',
        '(ball (pos # # #))', '(ball (pos 0 0 1)(vel # # #))', '(time #)',
        '(score (left #)(right 0))', '(score (left 0)(right #))', '(select (unum #)(team Left))',
    ],
)  # fmt: skip
@pytest.mark.parametrize('number', ['1001000', '-1e+308', 'nan', '9' * 65])
def test_a_number_beyond_its_limits_changes_nothing_and_is_named(pitch, text, number, caplog):
    """Whichever of the numbers of a command it is."""
    before = pitch.state()
    pieces = text.split('#')
    for place in range(1, len(pieces)):
        caplog.clear()
        send(pitch, '0'.join(pieces[:place]) + number + '0'.join(pieces[place:]))
        assert pitch.state() == before
        assert number[:20] in caplog.text or f'{float(number):g}' in caplog.text


def test_without_a_ball_commands_about_it_change_nothing(pitch):
    pitch.scene.ball = None
    before = pitch.state()
    send(pitch, '(ball (pos 1 2 3))(dropBall)')
    assert pitch.state() == before
