# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer commands: their effects, and that invalid ones have none."""

import math
import re
from types import SimpleNamespace

import numpy as np
from pitch import HEIGHT
from pitch import Pitch
import pytest

from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.wire.expressions import read


@pytest.fixture
def pitch():
    return Pitch()


def send(pitch, text, **options):
    for _ in pitch.trainers(**options).received(pitch.reply, read(text.encode())):
        pass
    return pitch


@pytest.mark.parametrize(
    ('text', 'move'),
    [
        ('(pos 1 2 0.5)', [('left_2', [1, 2, 0.5], None)]),
        # Degrees: 0 looks along y, -90 at the right goal, along x.
        ('(move 1 2 0.5 -90)', [('left_2', [1, 2, 0.5], 0)]),
        ('(move 1 2 0.5 0)', [('left_2', [1, 2, 0.5], math.pi / 2)]),
        ('(move 1 2 0.5 180)', [('left_2', [1, 2, 0.5], -math.pi / 2)]),
        # In the floor, as by the mouse: it stands.
        ('(pos 1 2 0)', [('left_2', [1, 2, HEIGHT], None)]),
        ('(battery 50)', []),
        ('', []),
    ],
)
def test_an_agent_is_moved(pitch, text, move):
    send(pitch, f'(agent (unum 2)(team Left){text})')
    assert [call[:2] for call in pitch.moves.calls] == [call[:2] for call in move]
    for call, wanted in zip(pitch.moves.calls, move, strict=True):
        assert call[2] == (wanted[2] if wanted[2] is None else pytest.approx(wanted[2]))


def test_a_move_alone_sets_no_condition(pitch):
    send(pitch, '(agent (unum 2)(team Left)(pos 1 2 0.5)(move 1 2 0.5 0))')
    assert not pitch.game.conditions


def test_the_condition_of_an_agent_is_kept(pitch):
    send(pitch, '(agent (team Right)(temperature 60.5)(unum 1)(battery 12))')
    condition = pitch.game.condition(pitch.game.roster.find(Side.RIGHT, 1))
    assert (condition.battery, condition.temperature) == (12, 60.5)


@pytest.mark.parametrize(
    ('text', 'call'),
    [
        ('(ball (pos 0 0 50))', ('ball', [0, 0, 50], None)),
        ('(ball (vel 1 -2 3e0))', ('ball', None, [1, -2, 3])),
        ('(ball (vel 1 0 0)(pos 3 1 1))', ('ball', [3, 1, 1], [1, 0, 0])),
        ('(ball (pos 1 2 0.00))', ('ball', [1, 2, 0.04], None)),  # RoboViz: on the floor
        ('(ball)', ('ball', None, None)),
    ],
)
def test_the_ball_is_moved(pitch, text, call):
    send(pitch, text)
    assert pitch.moves.calls == [call]


def test_kick_off_of_none_is_a_toss(pitch):
    modes = set()
    for _ in range(40):
        send(pitch, '(kickOff None)')
        modes.add(pitch.game.play_mode)
    assert modes == {'KickOff_Left', 'KickOff_Right'}


def test_the_ball_is_dropped_and_players_stand_back(pitch):
    send(pitch, '(dropBall)')
    distance = pitch.game.rules.free_kick_distance
    assert pitch.moves.calls == [
        ('ball', [1, 2, 0.04], [0, 0, 0]),
        ('left_1', [1, 2 - distance, 0.3], None),
        # On the ball: towards its own goal.  9 is fixed, 2 is far away.
        ('right_1', [1 + distance, 2, 0.3], None),
    ]
    assert pitch.game.play_mode == 'PlayOn'


def test_players_that_are_moved_do_not_stand_in_each_other(pitch):
    pitch.scene.positions[:2] = (1.0, 1.5, 0.3), (1.0, 0.6, 0.3)
    pitch.moves.is_movable = lambda robot: True
    real = pitch.moves.move_robot

    def move(robot, position, heading=None):
        real(robot, position, heading)
        pitch.scene.placed[robot] = tuple(position[:2])

    pitch.moves.move_robot = move
    send(pitch, '(dropBall)')
    places = list(pitch.scene.placed.values())
    assert len(places) > 2
    gaps = [math.dist(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    assert min(gaps) > 0.49
    assert all(math.dist(place, (1, 2)) == pytest.approx(1.3) for place in places)
    pitch.game.roster.enlist([f'{side}_{n}' for side in ('left', 'right') for n in range(1, 12)])
    pitch.scene.placed.clear()
    for index, player in enumerate(pitch.game.roster):
        pitch.scene.robots[player.robot] = SimpleNamespace(base=SimpleNamespace(id=index))
    pitch.scene.positions = np.array([[index, 0.0, 0.4] for index in range(22)])
    for side in ('Left', 'Right'):
        for number in range(1, 12):
            send(pitch, f'(repos (unum {number})(team {side}))')
    places = list(pitch.scene.placed.values())
    gaps = [math.dist(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    assert len(places) == 22 and min(gaps) > 0.49


def test_a_ball_beyond_the_field_is_brought_back(pitch):
    pitch.scene.ball.position[:] = 20, -7, 3
    send(pitch, '(dropBall)')
    assert pitch.moves.calls[0] == ('ball', [9, -6, 0.04], [0, 0, 0])


def test_select(pitch):
    for text, robot in [
        ('(select)', 'left_1'), ('(select)', 'left_2'),
        ('(select (unum 1)(team Right))', 'right_1'),
        ('(select (unum 1)(team None))', 'left_1'), ('(select (unum -1))', None),
    ]:  # fmt: skip
        send(pitch, text)
        assert (pitch.game.selected and pitch.game.selected.robot) == robot


def test_kill(pitch):
    send(pitch, '(kill (unum 2)(team Left))')
    send(pitch, '(select (unum 1)(team Right))(kill)')
    assert pitch.moves.calls == [('remove', 'left_2'), ('remove', 'right_1')]
    assert [player.robot for player in pitch.game.roster] == ['left_1', 'left_9']
    assert pitch.game.selected is None


def test_repos(pitch):
    send(pitch, '(repos (unum 2)(team Left))(select (unum 1)(team Right))(repos)')
    pitch.scene.ball.position[1] = -1
    send(pitch, '(repos)')
    beside = pitch.game.rules.half_width + 0.5
    # On the side away from the ball, looking at the field.
    assert pitch.moves.calls == [
        ('left_2', [-3, -beside, HEIGHT], math.pi / 2),
        ('right_1', [3.6, -beside, HEIGHT], math.pi / 2),
        ('right_1', [3.6, beside, HEIGHT], -math.pi / 2),
    ]


def test_killsim_is_an_option(pitch, caplog):
    send(pitch, '(killsim)')
    assert pitch.kills == 0 and '--allow-killsim' in caplog.text
    send(pitch, '(killsim)', killsim=True)
    assert pitch.kills == 1


def test_other_clients_have_their_turn_after_each_command(pitch):
    turns = pitch.trainers().received(pitch.reply, read(b'(time 1)(time 2)(getAck mine)'))
    assert [pitch.game.time for _ in turns] == [1, 2, 2] and pitch.reply.got == [b'(ack mine)']


def test_a_message_of_very_many_commands_changes_nothing(pitch):
    send(pitch, f'({"(time 1)" * 257})')
    assert pitch.game.time == 0
    send(pitch, f'({"(time 1)" * 256})')
    assert pitch.game.time == 1


def test_only_what_was_carried_out_is_acknowledged(pitch):
    send(pitch, '(ball (pos x 0 0))(getAck bad)(time 1)(getAck good)(getAck)(getAck (a))')
    send(pitch, '((time 2)(playMode none)(getAck worse))((time 3)(getAck better))')
    assert pitch.reply.got == [b'(ack good)', b'(ack better)']
    assert pitch.game.time == 3


@pytest.mark.parametrize(
    'text',
    [
        '(agent (unum 2)(pos 1 2 3))', '(agent (team Left)(pos 1 2 3))', '(agent (pos 1 2 3))',
        '(agent (unum 3)(team Left)(pos 1 2 3))', '(agent (unum 2)(team None)(pos 1 2 3))',
        '(agent (unum 2)(team left_)(pos 1 2 3))', '(agent (unum 2)(team Left)(pos 1 2))',
        '(agent (unum 2)(team Left)(pos 1 2 3)(move 1 2 3))',
        '(agent (unum 2)(team Left)(pos 1 2 3)(battery full))',
        '(agent (unum 2)(team Left)(move 1 2 nan 0))', '(agent (unum 9)(team Left)(pos 1 2 3))',
        '(agent (unum 2.5)(team Left)(pos 1 2 3))', '(agent (unum 2)(team (Left))(pos 1 2 3))',
        '(ball (pos nan 0 1))', '(ball (pos a b c))', '(ball (pos 1 2 3)(vel inf 0 0))',
        '(ball (pos 1e9 0 0))', '(ball (vel 1e300 0 0))', '(ball (pos 1 2 3 4))',
        '(ball (pos (1) 2 3))', '(playMode playon)', '(playMode)', '(playMode a b)',
        '(playmode PlayOn)', '(kickOff)', '(kickOff Middle)', '(kickOff (Left))', '(kill)',
        '(repos)',
        '(kill (unum 7)(team Right))', '(select (unum 7)(team Right))',
        '(repos (unum 9)(team Left))', '(time)', '(time -1)', '(time nan)', '(time 1 2)',
        '(score (left 1))',
        '(score (left 1)(right -1))', '(score (left 1)(right 1.5))', '(unknown)', '()', 'atom',
        '(("x"))', '((((ball))))', '(getAck)',
    ],
)  # fmt: skip
def test_a_bad_command_changes_nothing_and_is_logged(pitch, text, caplog):
    if 'repos (unum 9)' in text:
        pitch.moves.move_robot = lambda *_: pitch.moves.check_movable('left_9')
    before = pitch.state()
    send(pitch, text)
    assert pitch.state() == before
    assert 'trainer: ' in caplog.text


COMMANDS_WITH_NUMBERS = (
    '(agent (unum 2)(team Left)(pos # # #))', '(agent (unum 2)(team Left)(move # # # #))',
    '(agent (unum 2)(team Left)(battery #))', '(agent (unum 2)(team Left)(temperature #))',
    '(ball (pos # # #))', '(ball (vel # # #))', '(ball (pos 0 0 1)(vel # # #))', '(time #)',
    '(score (left #)(right 0))', '(score (left 0)(right #))', '(select (unum #)(team Left))',
    '(kill (unum #)(team Left))', '(repos (unum #)(team Left))',
)  # fmt: skip
BEYOND = ('1e308', '-1e308', '1000000000000', '-1000000000000', '1001000', 'nan', 'inf', '9' * 65)


@pytest.mark.parametrize('text', COMMANDS_WITH_NUMBERS)
@pytest.mark.parametrize('number', BEYOND)
def test_a_number_beyond_its_limits_changes_nothing_and_is_named(pitch, text, number, caplog):
    """Whichever of the numbers of a command it is; with a zero in its place it is carried out."""
    before = pitch.state()
    for place in range(text.count('#')):
        parts = iter('0' * place + '#' + '0' * (text.count('#') - place - 1))
        one = re.sub('#', lambda _, parts=parts: next(parts), text).replace('#', number)
        caplog.clear()
        send(pitch, one)
        assert pitch.state() == before
        try:
            shown = f'{float(number):g}'
        except ValueError:
            shown = number
        (line,) = caplog.messages
        assert shown in line or number[:20] in line


def test_without_a_ball_commands_about_it_change_nothing(caplog):
    pitch = Pitch(with_ball=False)
    before = pitch.state()
    send(pitch, '(ball (pos 1 2 3))(dropBall)')
    assert pitch.state() == before and 'no ball' in caplog.text
