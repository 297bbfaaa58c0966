# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene of the monitor client: messages that do not fit the protocol or the scene."""

import pytest
from simspark_client.scene_view import SceneView

from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression

SLT = '(SLT 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1)'
FULL = f'((time 0))(RSG 0 1)((nd TRF {SLT}(nd SMN (setVisible 1))))'


@pytest.mark.parametrize(
    ('nodes', 'kind', 'state'),
    [
        *((nodes, 'RSG', '((time 0))') for nodes in (
            '', '(x)', '((nd))', '((nd SMN x))', '((nd TRF))', '((nd TRF (SLT 1 2)))',
        )),
        *((nodes, 'RDS', '((time 0))') for nodes in (
            '()', '((nd)(nd))', '(x)', '((nd SMN))', '((nd (nd)))', '((nd (SLT 1)(nd SMN)))',
        )),
        ('()', 'RSG', '(time)'), ('()', 'RSG', '()'), ('()', 'XYZ', '((time 0))'),
    ],
)  # fmt: skip
def test_a_message_that_does_not_fit_is_refused_and_an_acknowledgement_ignored(nodes, kind, state):
    view = SceneView()
    assert not view.take(b'(ack x)')
    with pytest.raises(MalformedExpression):  # changes of nothing
        view.take(b'((time 0))(RDS 0 1)()')
    assert view.take(FULL.encode())
    with pytest.raises(MalformedExpression):
        view.take(f'{state}({kind} 0 1){nodes}'.encode())
