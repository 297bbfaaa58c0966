# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
import math

import pytest

from urlab_ros_bridge.ros.link.link_state import describe
from urlab_ros_bridge.ros.link.link_state import LinkState
from urlab_ros_bridge.ros.link.link_state import Phase

LIVE = LinkState(Phase.CONNECTED, 'tcp://h:1', 'tcp://h:2', 'live', paused=False, robots=1)
TALKING, SILENT, NEVER = 0.1, 5.0, math.inf


def test_all_is_well_when_ticks_come():
    assert describe(LIVE, TALKING) == (True, 'connected: live')


@pytest.mark.parametrize(
    ('state', 'silence', 'words'),
    [
        (
            replace(LIVE, phase=Phase.CONNECTING),
            SILENT,
            ['no server', 'tcp://h:1', 'urlab server'],
        ),
        (
            replace(LIVE, phase=Phase.PREPARING, problem='a bad name'),
            SILENT,
            ['connected', 'nothing is published', 'a bad name'],
        ),
        (replace(LIVE, phase=Phase.LOST), SILENT, ['lost', 'urlab server']),
        (replace(LIVE, phase=Phase.TAKEN), TALKING, ['another client', 'observe_only']),
        (replace(LIVE, phase=Phase.OBSERVING), SILENT, ['tcp://h:2', 'live mode']),
        (LIVE, NEVER, ['tcp://h:2', 'state_port']),
        (LIVE, SILENT, ['tcp://h:2', 'busy']),
        (replace(LIVE, mode='direct'), SILENT, ['silent', 'direct', 'steps', 'set_mode']),
        (replace(LIVE, mode='puppet', pinned=True), SILENT, ['puppet', 'pinned']),
        (replace(LIVE, robots=0), TALKING, ['no robots']),
    ],
)
def test_every_trouble_is_said_with_what_to_do(state, silence, words):
    well, text = describe(state, silence)
    assert not well
    assert all(word in text for word in words), text


def test_a_dead_server_is_no_wrong_port():
    well, text = describe(replace(LIVE, asking=True), SILENT)
    assert not well and 'neither responds' in text and 'state_port' not in text
    assert describe(replace(LIVE, asking=True), TALKING) == describe(LIVE, TALKING)


def test_a_server_that_has_answered_is_not_said_to_be_missing():
    well, text = describe(replace(LIVE, phase=Phase.PREPARING), SILENT)
    assert well and 'connected' in text and 'no server' not in text


def test_a_pause_and_a_stepping_client_are_no_trouble():
    assert describe(replace(LIVE, paused=True), TALKING)[0]
    assert 'pause' in describe(replace(LIVE, paused=True), TALKING)[1]
    assert describe(replace(LIVE, mode='direct'), TALKING)[0]
    assert describe(replace(LIVE, phase=Phase.OBSERVING), TALKING)[0]


def test_a_bridge_that_steps_is_no_other_client():
    stepped = replace(LIVE, mode='direct', lockstep=True)
    assert describe(stepped, TALKING) == (True, 'connected: lockstep')
    assert describe(replace(stepped, paused=True), TALKING) == (
        True,
        'connected: lockstep, paused',
    )
    assert not describe(stepped, 5.0)[0]


@pytest.mark.parametrize('phase', Phase)
def test_commands_are_taken_from_the_moment_their_topics_exist(phase):
    state = replace(LIVE, phase=phase)
    assert state.open is (phase in (Phase.PREPARING, Phase.CONNECTED))
    assert state.open or not state.connected
