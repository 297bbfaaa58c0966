# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene of the monitor client: messages that do not fit the protocol or the scene."""

import pytest

from urlab_ros_bridge.gateways.simspark.client.scene_view import SceneView
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression

SLT = '(SLT 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1)'
FULL = f'((time 0))(RSG 0 1)((nd TRF {SLT}(nd SMN (setVisible 1))))'


@pytest.mark.parametrize(
    ('nodes', 'kind', 'state'),
    [
        *((nodes, 'RSG', '((time 0))') for nodes in (
            '(x)', '((nd))', '((nd SMN x))', '((nd TRF))', '((nd TRF (SLT 1 2)))',
        )),
        *((nodes, 'RDS', '((time 0))') for nodes in (
            '()', '((nd)(nd))', '(x)', '((nd SMN))', '((nd (nd)))', '((nd (nd SMN)(nd SMN)))',
            '((nd (SLT 1)(nd SMN)))',
        )),
        ('()', 'RSG', '()'), ('()', 'RSG', '(time)'), ('()', 'XYZ', '((time 0))'),
        ('', 'RSG', '((time 0))'),
    ],
)  # fmt: skip
def test_an_invalid_message_is_refused(nodes, kind, state):
    view = SceneView()
    assert view.take(FULL.encode())
    with pytest.raises(MalformedExpression):
        view.take(f'{state}({kind} 0 1){nodes}'.encode())


def test_changes_before_the_first_full_message_are_refused_and_acknowledgements_ignored():
    with pytest.raises(MalformedExpression):
        SceneView().take(b'((time 0))(RDS 0 1)()')
    assert not SceneView().take(b'(ack x)')
