# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of the standard, and what errors of the wire become."""

import pytest

from urlab_ros_bridge.client.errors import remote_error
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.wire.errors import ERROR_CODES

pytestmark = pytest.mark.ros
results = pytest.importorskip('urlab_ros_bridge.ros.services.standard.base')
msg = pytest.importorskip('simulation_interfaces.msg')


def test_the_features_have_the_numbers_of_the_standard():
    from urlab_ros_bridge.ros.services.standard.base import StandardFeature

    for feature in StandardFeature:
        assert getattr(msg.SimulatorFeatures, feature.name) == feature


def test_the_states_have_the_numbers_of_the_standard():
    from urlab_ros_bridge.ros.services.standard.simulation_state import State

    for state in State:
        assert getattr(msg.SimulationState, f'STATE_{state.name}') == state


@pytest.mark.parametrize('code', ERROR_CODES)
def test_an_error_of_the_wire_keeps_its_code_in_front(code):
    result, text = results.to_result(remote_error(code, 'what went wrong', 'step'))
    assert text.startswith(f'{code}: ') and text.count(code) == 1
    assert 'what went wrong' in text
    if code.startswith('unknown_') and code != 'unknown_op':
        assert result == results.NOT_FOUND
    else:
        assert result in (results.UNSUPPORTED, results.INCORRECT_STATE, results.FAILED) or (
            code == 'replay_session_not_found'
        )
    assert result != results.OK


@pytest.mark.parametrize(
    ('error', 'result', 'start'),
    [
        (remote_error('unknown_op', '', 'x'), results.UNSUPPORTED, 'unknown_op: '),
        (remote_error('mode_locked_by_server', '', 'x'), results.INCORRECT_STATE, 'mode_locked'),
        (RequestTimeout('step', 'here', 1.0), results.FAILED, 'timeout: '),
        (ValueError('two is not three'), results.FAILED, 'bad_value: two'),
        (results.StandardRejected(103, 'no such'), 103, 'no such'),
        (KeyError('surprise'), results.FAILED, 'internal_error: KeyError'),
    ],
)
def test_every_error_is_an_answer(error, result, start):
    found, text = results.to_result(error)
    assert found == result and text.startswith(start)
