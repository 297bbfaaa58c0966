# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of percepts, valid and invalid."""

import pytest

from urlab_ros_bridge.gateways.simspark.client.percepts import Polar
from urlab_ros_bridge.gateways.simspark.client.percepts import read_percepts
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression

EXAMPLE = b"""
(time (now 7.480))(GS (unum 7) (team left) (sl 1) (sr 2) (t 3.500) (pm PlayOn))
(GYR (n torso) (rt 0.010 -0.000 2.5))(ACC (n torso) (a 0.1 0.2 9.810))
(HJ (n hj1) (ax -0.020))(HJ (n llj6) (ax 12.5))(UJ (n neck) (ax1 1.0) (ax2 -2.0))
(FRP (n rf) (c 0.01 -0.02 -0.01) (f 0.1 0.2 22.5))(TCH n bumper val 1)
(See (F1L (pol 19.110 35.0 -1.5)) (G1R (pol 10.0 -2.5 3.0)) (B (pol 1.0 0.5 -20.0))
 (P (team Theirs) (id 3) (head (pol 2.0 1.0 0.5)) (rfoot (pol 2.1 1.1 -9.5)))
 (L (pol 1.0 2.0 3.0) (pol 4.0 5.0 6.0)) (mypos 1.0 2.0 0.5))
(hear Ours 3.40 self hello)(hear Ours 3.40 -35.50 there)(AgentState (temp 20) (battery 90))
"""


def test_an_example_with_everything():
    assert read_percepts(b'(time (now 1.0))').seen is None
    found = read_percepts(EXAMPLE)
    assert (found.time, found.game_time, found.play_mode) == (7.48, 3.5, 'PlayOn')
    assert (found.number, found.side, found.score) == (7, 'left', (1, 2))
    assert found.gyro == (0.01, 0.0, 2.5) and found.acceleration == (0.1, 0.2, 9.81)
    assert found.joints == {'hj1': -0.02, 'llj6': 12.5}
    assert found.universal == {'neck': (1.0, -2.0)}
    assert found.forces['rf'] == ((0.01, -0.02, -0.01), (0.1, 0.2, 22.5))
    assert found.touched == {'bumper': True}
    seen = found.seen
    assert seen.points['F1L'] == Polar(19.11, 35.0, -1.5) and seen.ball == (1.0, 0.5, -20.0)
    (player,) = seen.players
    assert (player.team, player.number) == ('Theirs', 3)
    assert player.parts == {'head': (2.0, 1.0, 0.5), 'rfoot': (2.1, 1.1, -9.5)}
    assert seen.lines == [((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))]
    assert seen.truth == {'mypos': (1.0, 2.0, 0.5)}
    assert (found.temperature, found.battery) == (20, 90)
    assert [call.direction for call in found.heard] == ['self', '-35.50']


@pytest.mark.parametrize('text', [b'(HJ (n hj1) (ax x))', b'(time (now nan))', b'(GS (t'])
def test_invalid_percepts_are_refused(text):
    with pytest.raises(MalformedExpression):
        read_percepts(text)
