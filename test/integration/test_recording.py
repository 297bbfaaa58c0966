# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording and replay with the real programs, by ROS services."""

import json
from pathlib import Path

from bridge_harness import wait_until
import pytest
from urlab_msgs import srv

FRAMES = 25


def call(listener, service, **fields):
    kind = getattr(srv, ''.join(part.capitalize() for part in service.split('_')))
    return listener.call(kind, f'/{service}', **fields)


def test_a_run_is_recorded_saved_loaded_and_stepped_through(simulation, tmp_path):
    _, _, listener = simulation('--data-dir', tmp_path)
    # The bridge serves before it is connected, and says so.
    wait_until(lambda: call(listener, 'set_mode', mode='direct').success)
    refused = call(listener, 'recording_save')
    assert (refused.success, refused.code) == (False, 'recording_not_active')
    started = call(listener, 'recording_start', name='run', max_duration_s=60.0)
    assert (started.success, started.name, started.max_duration_s) == (True, 'run', 60.0)
    assert call(listener, 'recording_start').code == 'recording_already_active'
    assert call(listener, 'step', n_steps=FRAMES).success
    stopped = call(listener, 'recording_stop')
    assert stopped.name == 'run' and stopped.frame_count == FRAMES and stopped.sim_duration_s > 0
    saved = call(listener, 'recording_save', path='run.json')
    frames = json.loads(Path(saved.absolute_path).read_text())['Frames']
    assert Path(saved.absolute_path).parent == tmp_path / 'Replays' and len(frames) == FRAMES
    assert call(listener, 'recording_clear').success

    assert call(listener, 'replay_load', path='/etc/hostname').code == 'path_not_readable'
    loaded = call(listener, 'replay_load', path='run.json')
    assert (loaded.name, loaded.total_frames) == ('run', FRAMES)
    assert list(call(listener, 'replay_list_sessions').sessions) == ['live', 'run']
    assert call(listener, 'replay_set_active', name='gone').code == 'replay_session_not_found'
    assert call(listener, 'replay_set_active', name='run').success
    played = call(listener, 'replay_start')
    assert (played.active_session, played.total_frames) == ('run', FRAMES)
    stamp = call(listener, 'step', n_steps=10).sim_time
    assert stamp.sec + stamp.nanosec * 1e-9 == pytest.approx(frames[9]['timestamp'], abs=1e-9)
    assert call(listener, 'replay_stop').success
    assert call(listener, 'set_mode', mode='live').success
    assert call(listener, 'replay_start').code == 'replay_requires_stepped'
