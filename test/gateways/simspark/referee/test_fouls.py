# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Fouls by the published rules of rcssserver3d 0.7; each can be switched off.

Players are points here: their bodies are where their base is, and a second one beside it.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from urlab_ros_bridge.gateways.simspark.game.state import FoulType
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.referee.fouls import CONTACT
from urlab_ros_bridge.gateways.simspark.referee.fouls import Fouls
from urlab_ros_bridge.gateways.simspark.referee.referee import LEAGUE
from urlab_ros_bridge.gateways.simspark.referee.referee import read_rules
from urlab_ros_bridge.gateways.simspark.referee.referee import RULES
from urlab_ros_bridge.gateways.simspark.referee.referee import UnknownRule

HEIGHT, CYCLE = 0.385, 0.02
LEFT, RIGHT = 'left', 'right'


class Pitch:
    """Players by name, at places that a test changes."""

    def __init__(self, rules, **players):
        self.game = GameState()
        self.game.set_play_mode('PlayOn')
        self.game.roster.enlist(players)
        self.places = {name: np.array([*place, HEIGHT]) for name, place in players.items()}
        ball = SimpleNamespace(position=np.array([0.0, 0.0, 0.042]))
        body = SimpleNamespace
        robots = {
            name: body(bodies={'base': body(id=index)}) for index, name in enumerate(players)
        }
        self.scene = SimpleNamespace(ball=ball, robots=robots)
        self.placement = SimpleNamespace(is_movable=lambda robot: True)
        self.fouls = Fouls(frozenset({rules} if isinstance(rules, str) else rules))

    def base_position(self, player):
        return tuple(self.places[player.robot])

    def standing_height(self, player):
        return HEIGHT

    def cycle(self, count=1, touching=(), **moves):
        """Let cycles pass, in which players move by so much each; return the fouls."""
        found = []
        for _ in range(count):
            for name, step in moves.items():
                self.places[name][: len(step)] += step
            self.scene.positions = np.array(list(self.places.values()))
            balls = {player for player in self.game.roster if player.robot in touching}
            fouls = self.fouls.find(self, balls, CYCLE)
            for player, _ in fouls:  # beside the field
                self.places[player.robot][:2] = player.number, 20
            found += fouls
        return [(player.robot, kind) for player, kind in found]


def test_the_rules_are_those_of_the_league_and_others_are_named():
    assert read_rules('league') == LEAGUE == frozenset(RULES) - {'crowding', 'keepaway'}
    assert read_rules('all') == LEAGUE | {'crowding'} and read_rules('none') == frozenset()
    assert read_rules('charging, touching') == {'charging', 'touching'}
    with pytest.raises(UnknownRule, match="'offside'"):
        read_rules('charging,offside')


@pytest.mark.parametrize(
    ('name', 'height', 'seconds'),
    [('left_2', 0.1, 15), ('left_1', 0.1, 30), ('left_2', 0.2, 30), ('left_1', 0.2, 60)],
)
def test_a_player_that_lies_for_15_s_or_does_not_stand_for_30_s_is_incapable(
    name, height, seconds
):
    """Without a break; the goalkeeper has twice the time (GroundMaxTime, NotStandingMaxTime)."""
    pitch, off = Pitch('incapable', **{name: (1, 1)}), Pitch((), **{name: (1, 1)})
    for each in (pitch, off):
        each.places[name][2] = height
        assert each.cycle(round(seconds / CYCLE) - 1) == []
    assert pitch.cycle(3)[:1] == [(name, FoulType.INCAPABLE)] and off.cycle(3) == []
    breaks = Pitch('incapable', **{name: (1, 1)})
    for _ in range(2):
        breaks.places[name][2] = height
        assert breaks.cycle(round(0.8 * seconds / CYCLE)) == []
        breaks.places[name][2] = HEIGHT
        assert breaks.cycle(round(0.6 / CYCLE)) == []


@pytest.mark.parametrize('on', [True, False])
def test_of_four_in_their_own_penalty_area_the_last_to_enter_is_illegal(on):
    """For a goalkeeper that enters last, the farthest from the goal leaves."""
    rules = 'illegal_defence' if on else ()
    three = {'left_1': (-8, 0), 'left_2': (-8, 1), 'left_3': (-8, -1)}
    pitch = Pitch(rules, **three, left_4=(-7.0, 2), right_2=(-8, 2.5))
    assert pitch.cycle(5) == []
    guilty = [('left_4', FoulType.ILLEGAL_DEFENCE)]
    assert pitch.cycle(20, left_4=(-0.02, 0)) == (guilty if on else [])
    places = {'left_1': (-7.0, 0), 'left_2': (-8.9, 0), 'left_3': (-7.4, 1), 'left_4': (-8.5, 1)}
    pitch = Pitch(rules, **places)
    pitch.cycle(2)
    guilty = [('left_3', FoulType.ILLEGAL_DEFENCE)]
    assert pitch.cycle(20, left_1=(-0.05, 0)) == (guilty if on else [])


@pytest.mark.parametrize('on', [True, False])
def test_with_an_opponent_at_the_ball_second_and_third_keep_their_distance(on):
    """MinOppDistance 0.8, Min2PlDistance 0.4, Min3PlDistance 1.0 m."""
    near = {'left_2': (0.1, 0), 'left_3': (0.3, 0), 'left_4': (0, 0.9), 'left_5': (0, 1.5)}
    pitch = Pitch('crowding' if on else (), **near, right_2=(0, -0.7))
    wanted = [('left_3', FoulType.CROWDING), ('left_4', FoulType.CROWDING)] if on else []
    assert pitch.cycle() == wanted
    alone = Pitch('crowding', **near, right_2=(0, -0.9))
    assert alone.cycle() == []
    kick_off = Pitch('crowding', **near, right_2=(0, -0.7))
    kick_off.game.set_play_mode('KickOff_Left')
    assert kick_off.cycle() == []


@pytest.mark.parametrize(
    ('there', 'late', 'guilty'),
    [
        (('left_2', 'right_3'), 'left_4', 'left_4'),
        (('left_2', 'left_3'), 'right_4', 'left_3'),
        (('left_2', 'right_3'), 'left_1', 'left_2'),  # a goalkeeper never goes
    ],
)
def test_of_three_that_touch_one_of_the_larger_team_goes(there, late, guilty):
    """MaxTouchGroupSize 2: the one that came, or one of the team that has more in the group."""
    for rules in ('touching', ()):
        pitch = Pitch(rules, **dict(zip(there, ((1, 1), (1.1, 1)), strict=True)), **{late: (2, 1)})
        assert pitch.cycle(3) == []
        pitch.places[late][:2] = 1.2, 1
        assert pitch.cycle(3) == ([(guilty, FoulType.TOUCHING)] if rules else [])


def collide(speeds, ball, rules='charging', before=60, touching=(), numbers=(2, 2)):
    """Let left_2 from the left and right_2 from the right run into each other at the origin."""
    names = [f'{side}_{n}' for side, n in zip((LEFT, RIGHT), numbers, strict=True)]
    ways = [np.array(speed) * CYCLE for speed in speeds]
    starts = [
        sign * CONTACT / 2 - way * before
        for sign, way in zip((np.array([-1, 0]), np.array([1, 0])), ways, strict=True)
    ]
    pitch = Pitch(rules, **{n: tuple(np.array(s)) for n, s in zip(names, starts, strict=True)})
    pitch.scene.ball.position[:2] = ball
    return pitch.cycle(before + 5, touching, **dict(zip(names, ways, strict=True)))


@pytest.mark.parametrize(
    ('speeds', 'ball', 'guilty'),
    [
        # One stands at the ball's side, the other runs into it, away from the ball.
        (((0.8, 0), (0, 0)), (-5, 0), ['left_2']),
        (((0, 0), (-0.8, 0)), (5, 0), ['right_2']),
        (((0.3, 0), (0, 0)), (-5, 0), []),  # too slow (0.4 m/s)
        (((0.8, 0), (-0.8, 0)), (0, 5), []),  # both
        (((0.8, 0), (0, 0)), (0, 0.05), []),  # at the ball (0.1 m)
        # Within a metre of the ball, who runs for it does not charge (30 degrees).
        (((0.8, 0), (0, 0)), (-0.5, 0), ['left_2']),
        (((0.06, 0.7), (-0.06, 0.7)), (0, 0.9), []),
        # Of two that run for it, the farther one does, from behind.
        (((0.8, 0), (0.5, 0)), (0.9, 0.05), ['left_2']),
    ],
)
def test_a_player_that_runs_into_an_opponent_charges(speeds, ball, guilty):
    assert collide(speeds, ball)[:1] == [(name, FoulType.CHARGING) for name in guilty]
    assert collide(speeds, ball, rules=()) == []


def test_a_player_that_just_had_the_ball_or_keeps_the_goal_does_not_charge():
    """ChargingImmunityTime 1 s; the goalkeeper in its own area."""
    speeds, ball = ((0.8, 0), (0, 0)), (-5, 0)
    assert collide(speeds, ball, touching=('left_2',)) == []
    assert collide(speeds, ball, numbers=(1, 2))[0][0] == 'left_1'  # not in its area
