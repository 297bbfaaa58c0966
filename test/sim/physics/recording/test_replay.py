# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Replay: recorded frames are replayed by steps, bit for bit, and physics continues after them."""

import json
from pathlib import Path

import numpy as np
import pytest

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics import replay as module
from urlab_ros_bridge.sim.physics.replay import LIVE
from urlab_ros_bridge.wire.recording import RecordedTake


@pytest.fixture
def taped(rig, tmp_path):
    """Return a rover in direct mode that has recorded 20 steps, and their qpos."""
    made = rig(mode='direct', data_dir=tmp_path)
    made.ask('recording_start')
    made.states = []
    for i in range(20):
        made.ask('step', per_articulation={'rover': {'ctrl': [5, i]}})
        made.states.append(made.data.qpos.copy())
    made.ask('recording_stop')
    made.ask('reset')
    return made


@pytest.mark.parametrize(
    ('op', 'fields'),
    [('replay_stop', {}), ('reset', {}), ('recording_start', {}), ('set_mode', {'mode': 'live'})],
)
def test_each_of_these_ends_a_replay(taped, op, fields):
    taped.ask('replay_start')
    assert 'replay' in taped.ask('step')
    taped.ask(op, **fields)
    assert 'replay' not in taped.ask('step') and taped.engine.run.replay_source is None


def test_too_many_sessions_are_refused(taped, monkeypatch):
    monkeypatch.setattr(module, 'MAX_SESSIONS', 2)
    take = taped.simulation.recorder.snapshot()
    for name in ('a', 'b', 'a', 'b'):
        taped.simulation.replay.add(name, take)
    with pytest.raises(OpError, match='at most 2'):
        taped.simulation.replay.add('c', take)
    monkeypatch.setattr(module, 'MAX_BYTES', take.nbytes)
    with pytest.raises(OpError, match='sessions'):
        taped.simulation.replay.add('a', take)
    assert taped.simulation.replay.sessions == [LIVE, 'a', 'b']


def test_a_file_is_read_no_further_than_there_is_room(taped, monkeypatch):
    path = taped.ask('recording_save')['absolute_path']
    monkeypatch.setattr('urlab_ros_bridge.wire.recording._BLOCK_ROWS', 4)
    monkeypatch.setattr(module, 'MAX_BYTES', 600)
    refusal = taped.refusal('replay_load', path=path)
    assert refusal.code == 'path_not_readable' and '4 frames' in refusal.message


def test_joints_are_found_by_name_and_must_be_of_the_same_kind(taped, tmp_path):
    path = taped.ask('recording_save')['absolute_path']
    root = json.loads(Path(path).read_text())
    for frame in root['Frames']:
        frame['jointStates'] = {'ghost': {'qPos': [1], 'qVel': [2]}, **frame['jointStates']}
        del frame['jointStates']['rover_left_wheel']
        frame['ctrl'] = frame['act'] = []
    del root['Urlab']
    (tmp_path / 'Replays' / 'part.json').write_text(json.dumps(root))
    slot = int(taped.model.joint('rover_left_wheel').qposadr[0])
    taped.data.qpos[slot] = 0.125
    taped.ask('replay_load', path='part.json')
    taped.ask('replay_start')
    taped.ask('step', n_steps=20)
    expected = taped.states[-1].copy()
    expected[slot] = 0.125
    assert np.array_equal(taped.data.qpos, expected)
    # A ball joint now has the name of the wheel.
    for frame in root['Frames']:
        frame['jointStates']['rover_left_wheel'] = {'qPos': [1, 0, 0, 0], 'qVel': [0, 0, 0]}
    (tmp_path / 'Replays' / 'kind.json').write_text(json.dumps(root))
    taped.ask('replay_load', path='kind.json')
    assert taped.code('replay_start') == 'dim_mismatch'


def test_a_session_without_the_joints_of_this_world_is_refused(taped):
    take = taped.simulation.recorder.snapshot()
    strange = RecordedTake(type(take.layout)(take.layout.joints[:0]), take.blocks)
    taped.simulation.replay.add('strange', strange)
    assert taped.code('replay_start') == 'bad_value'
