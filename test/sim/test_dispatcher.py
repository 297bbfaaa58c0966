# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Invalid requests are refused by name."""

import numpy as np
import pytest

from urlab_ros_bridge.sim.requests.registry import Registry


def test_the_registry_refuses_unknown_and_duplicate_ops():
    registry = Registry()

    def step(*_):
        return {}

    def brew_coffee(*_):
        return {}

    registry.register(step)
    with pytest.raises(ValueError, match='twice'):
        registry.register(step)
    with pytest.raises(ValueError, match='op table'):
        registry.register(brew_coffee)


BAD = [
    ('step', {'n_steps': 'ten'}, 'bad_value'),
    ('step', {'n_steps': 10**9}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [float('nan'), 0]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': ['1', 2]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [0.0] * (2**16 + 1)}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl_map': {'third_wheel': 1}}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'xfrc_applied': {'moon': [0] * 6}}}}, 'unknown_body'),
    (
        'step',
        {'per_articulation': {'rover': {'xfrc_applied': {'base_link': [0] * 5}}}},
        'dim_mismatch',
    ),
    ('reset', {'per_articulation_qpos': {'rover': {'knee': 1}}}, 'bad_value'),
    ('set_paused', {'paused': 'yes'}, 'bad_value'),
    ('set_sim_speed', {'percent': float('nan')}, 'bad_value'),
    ('set_twist', {'articulation': 'rover', 'linear': 'fast'}, 'bad_value'),
    ('set_twist', {'articulation': 'rover', 'timeout': -1}, 'bad_value'),
    ('set_qpos', {'target': 'rover', 'qpos': [0.0] * 7}, 'bad_value'),
    ('set_mocap_pose', {'body': 'target', 'quat': [0, 0, 0, 0]}, 'bad_value'),
    ('get_contacts', {'filter': {'body1': 3}}, 'bad_value'),
    ('step', {'include_cameras': 'some'}, 'bad_value'),
    ('step', {'include_cameras': {'front_rgb': 'late'}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': [1.0]}}, 'bad_value'),
    ('reset', {'keep_state': True, 'seed': 3}, 'bad_value'),
    ('set_setpoints', {'articulation': 'rover', 'values': {'third_wheel': 1.0}}, 'bad_value'),
    ('recording_start', {'max_duration_s': 0}, 'bad_value'),
    ('recording_read', {'path': 'a.json', 'offset': -1}, 'path_not_readable'),
    ('set_camera_streaming', {'cameras': {'front_rgb': {'tcp': True}}}, 'bad_value'),
    ('set_sim_options', {'options': {'gravity': [0, 0]}}, 'bad_value'),
    ('set_sim_options', {'options': {'timestep': 0}}, 'bad_value'),
    ('set_sim_options', {'options': {'colour': 1}}, 'bad_value'),
]


def state(rig):
    return {
        name: np.array(getattr(rig.data, name))
        for name in ('qpos', 'qvel', 'ctrl', 'time', 'xfrc_applied', 'mocap_pos', 'mocap_quat')
    }


@pytest.mark.parametrize(('op', 'fields', 'code'), BAD)
def test_bad_input_is_refused_by_name_and_changes_nothing(shared_rig, op, fields, code):
    before = state(shared_rig)
    assert shared_rig.code(op, **fields) == code
    after = state(shared_rig)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_messages_name_the_value_and_list_the_valid_ones(shared_rig):
    for op, fields, words in (
        ('reset', {'keyframe_name': 'nowhere'}, ('nowhere', 'rover_home', 'rover_dock')),
        ('set_twist', {'articulation': 'go2'}, ('go2', 'rover')),
        ('set_mocap_pose', {'body': 'pallet', 'pos': [0, 0, 0]}, ('pallet', 'target')),
        ('set_mode', {'mode': 'warp'}, ('warp', 'live', 'direct', 'puppet')),
        ('set_sim_options', {'options': {'solver': 'abacus'}}, ('abacus', 'newton')),
    ):
        with pytest.raises(Exception) as caught:
            shared_rig.ask(op, **fields)
        for word in words:
            assert word in str(caught.value)
