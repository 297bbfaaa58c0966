# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Invalid requests are refused by name."""

import numpy as np
import pytest

from urlab_ros_bridge.sim.requests.registry import Registry

PULL = {'point': [0, 0, 0], 'target': [1, 0, 0], 'duration': 1.0}
BAD = [
    ('step', {'n_steps': 'ten'}, 'bad_value'),
    ('step', {'n_steps': 10**9}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [float('nan'), 0]}}}, 'bad_value'),
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
    ('set_twist', {'articulation': 'rover', 'timeout': -1}, 'bad_value'),
    ('set_mocap_pose', {'body': 'target', 'quat': [0, 0, 0, 0]}, 'bad_value'),
    ('get_contacts', {'filter': {'body1': 3}}, 'bad_value'),
    ('step', {'include_cameras': 'some'}, 'bad_value'),
    ('step', {'include_cameras': 1}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'control_mode': 'bogus'}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': [1.0]}}, 'bad_value'),
    ('step', {'topics': 'rover/'}, 'bad_value'),
    ('step', {'topics': ['rover/twist', 'x' * 257]}, 'bad_value'),
    ('apply_wrench', {'body': 'pallet', 'force': [1, 0, 0], 'name': 'x' * 257}, 'bad_value'),
    ('apply_wrench', {}, 'missing_field'),
    ('apply_wrench', {'body': 'nobody'}, 'unknown_body'),
    ('apply_wrench', {'body': 'pallet', 'force': [1.0, 2.0]}, 'dim_mismatch'),
    ('apply_wrench', {'body': 'pallet', 'frame': 'moon'}, 'bad_value'),
    ('pull_body', {'body': 'shelf', **PULL}, 'bad_value'),  # it is fixed
    ('set_entity_state', {'entity': 'palet', 'pos': [0, 0, 1]}, 'unknown_body'),
    ('set_entity_state', {'entity': 'pallet'}, 'missing_field'),
    ('set_entity_state', {'entity': 'pallet', 'pos': [0, 0, 9], 'quat': [0] * 4}, 'bad_value'),
    ('get_entities', {'entities': ['pallet', 'no']}, 'unknown_body'),
    ('hello', {'shared': True, 'camera_header': 'x' * 257}, 'bad_value'),
    ('step', {'topics': [''] * 1001}, 'bad_value'),
    ('reset', {'keep_state': True, 'seed': 3}, 'bad_value'),
    ('set_setpoints', {'articulation': 'rover', 'values': {'third_wheel': 1.0}}, 'bad_value'),
    ('recording_start', {'max_duration_s': 0}, 'bad_value'),
    ('recording_read', {'path': 'a.json', 'offset': -1}, 'path_not_readable'),
    ('set_sim_options', {'options': {'gravity': [0, 0]}}, 'bad_value'),
    ('set_sim_options', {'options': {'timestep': 0}}, 'bad_value'),
    ('set_sim_options', {'options': {'iterations': 10_001}}, 'bad_value'),
    ('set_sim_options', {'options': {'noslip_iterations': 10**9}}, 'bad_value'),
    ('set_sim_options', {'options': {'iterations': 9999, 'ls_iterations': 9999}}, 'bad_value'),
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


def test_the_registry_refuses_unknown_and_duplicate_ops():
    def step(*_):
        return {}

    registry = Registry()
    registry.register(step)
    for wrong, reason in ((step, 'twice'), (state, 'op table')):
        with pytest.raises(ValueError, match=reason):
            registry.register(wrong)
