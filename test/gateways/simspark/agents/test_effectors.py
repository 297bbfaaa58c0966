# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Effectors: each is accepted or raises an error, and nothing else happens."""

import pytest

from urlab_ros_bridge.gateways.simspark.agents.effectors import decode
from urlab_ros_bridge.gateways.simspark.agents.effectors import Effector
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import read


@pytest.mark.parametrize(
    ('text', 'effector'),
    [
        ('(scene rsg/agent/nao/nao.rsg)', Effector('scene', 'rsg/agent/nao/nao.rsg', (0,))),
        (
            '(scene rsg/agent/nao/nao_hetero.rsg 4)',
            Effector('scene', 'rsg/agent/nao/nao_hetero.rsg', (4,)),
        ),
        ('(init (unum 7)(teamname Ours))', Effector('init', 'Ours', (7,))),
        ('(init (teamname Ours)(unum 0)(other 1))', Effector('init', 'Ours', (0,))),
        ('(init (teamname Ours))', Effector('init', 'Ours', (0,))),
        ('(beam -1.5 0.5 90)', Effector('beam', '', (-1.5, 0.5, 90.0))),
        ('(he1 0.5)', Effector('joint', 'he1', (0.5,))),
        ('(uj 1 -2e-1)', Effector('joint', 'uj', (1.0, -0.2))),
        ('(say aB%20~!characters)', Effector('say', 'aB%20~!characters')),
        ('(syn)', Effector('syn')),
        ('(pass)', Effector('pass')),
    ],
)
def test_an_effector_is_accepted(text, effector):
    assert decode(read(text.encode())[0]) == effector


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('syn', 'list'),
        ('()', 'list'),
        ('((he1 1))', 'list'),
        ('(scene)', 'file'),
        ('(scene nao_hetero.rsg 5)', '5 is not 0 to 4'),
        ('(scene nao_hetero.rsg x)', 'whole number'),
        ('(init (unum 1))', 'teamname'),
        ('(init (unum 12)(teamname A))', '12 is not 0 to 11'),
        ('(init (unum -1)(teamname A))', '-1 is not 0 to 11'),
        ('(init (unum 1.5)(teamname A))', 'whole number'),
        ('(init (unum 1)(teamname "a b"))', 'a b'),
        (f'(init (unum 1)(teamname {"a" * 65}))', '64'),
        ('(beam 1 2)', '3 numbers are needed, not 2'),
        ('(beam nan 0 0)', 'nan'),
        ('(beam 1e999 0 0)', '1e999'),
        ('(he1 fast)', 'fast'),
        ('(he1 nan)', 'nan'),
        ('(he1 inf)', 'inf'),
        ('(he1)', 'not 0'),
        ('(he1 1 2 3)', 'not 3'),
        ('(he1 (1))', 'finite number'),
        ('(say)', 'say'),
        ('(say a b)', 'say'),
        ('(say ())', 'say'),
        (f'(say {"x" * 21})', '20'),
        ('(say "a b")', 'say'),
        ('(say "")', 'say'),
    ],
)
def test_an_invalid_effector_is_refused(text, value):
    with pytest.raises(SimSparkError) as caught:
        decode(read(text.encode())[0])
    assert value in str(caught.value)


@pytest.mark.parametrize('name', ['x' * 300, '\n"(' * 100, '\U0001f916' * 75])
def test_an_error_stays_short_whatever_was_sent(name):
    with pytest.raises(SimSparkError) as caught:
        decode([name, '1', '2', '3'])
    assert len(str(caught.value)) < 200
