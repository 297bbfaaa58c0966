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
        ('(scene nao_hetero.rsg 4)', Effector('scene', 'nao_hetero.rsg', (4,))),
        ('(init (teamname Ours)(other 1))', Effector('init', 'Ours', (0,))),
        ('(uj 1 -2e-1)', Effector('joint', 'uj', (1.0, -0.2))),
        ('(say aB%20~!characters)', Effector('say', 'aB%20~!characters')),
        ('(pass)', Effector('pass')),
    ],
)
def test_an_effector_is_accepted(text, effector):
    assert decode(read(text.encode())[0]) == effector


@pytest.mark.parametrize(
    'text',
    [
        'syn', '((he1 1))', '(scene nao_hetero.rsg 5)', '(init (unum 1))',
        '(init (unum 12)(teamname A))', '(init (unum 1)(teamname "a b"))',
        f'(init (unum 1)(teamname {"a" * 65}))', '(beam 1 2)', '(he1 1e999)', '(he1 1 2 3)',
        '(say)', f'(say {"x" * 21})', '(say "a b")', f'({"x" * 300} 1 2 3)',
    ],
)  # fmt: skip
def test_an_invalid_effector_is_refused_in_a_short_line(text):
    with pytest.raises(SimSparkError) as caught:
        decode(read(text.encode())[0])
    assert len(str(caught.value)) < 200
