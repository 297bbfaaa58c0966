# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Poses that clients write: which are accepted, which are refused, and the resulting state."""

import numpy as np


def test_the_largest_accepted_numbers_are_harmless(rover):
    for op, fields in (
        ('set_mocap_pose', {'body': 'target', 'pos': [1e10] * 3}),
        ('set_qpos', {'target': 'rover', 'qpos': [1e10, 1e10, 1e10, 1e10, 0, 0, 0]}),
        ('step', {'per_articulation': {'rover': {'xfrc_applied': {'base_link': [1e10] * 6}}}}),
        ('step', {'per_articulation': {'rover': {'ctrl': [1e10, -1e10]}}}),
        ('forward', {}),
        ('get_contacts', {}),
    ):
        rover.ask(op, **fields)
    rover.ask('step', n_steps=20)
    assert np.isfinite(rover.ask('reset')['per_articulation']['rover']['qpos']).all()


def test_one_robot_is_reset_alone(rig):
    server = rig(world='fleet', step_mode='direct')
    robots, data = server.simulation.world.articulations, server.data
    first, second = (robots[name] for name in ('rover_1', 'rover_2'))
    server.ask(
        'step', n_steps=50, per_articulation={'rover_2': {'twist': {'linear': [0.4, 0, 0]}}}
    )
    before, time = data.qpos.copy(), data.time
    for fields in ({'keyframe_name': 'rover_1_dock'}, {}):
        data.qpos[first.qpos] += 0.5
        reply = server.ask('reset', articulation='rover_1', keep_time=True, **fields)
        assert reply['time'] == time == data.time
        key = fields and server.model.key('rover_1_dock').qpos
        start = key if fields else server.model.qpos0
        assert np.array_equal(data.qpos[first.qpos], start[first.qpos])
        rest = np.ones(server.model.nq, bool)
        rest[first.qpos] = False
        assert np.array_equal(data.qpos[rest], before[rest])
        assert data.qvel[second.qvel].any()
    for wrong, code in (
        ({'articulation': 'rover_1'}, 'bad_value'),
        ({'articulation': 'rover_1', 'keep_time': True, 'seed': 3}, 'bad_value'),
        ({'articulation': 'rover_9', 'keep_time': True}, 'unknown_articulation'),
        ({'articulation': 'rover_2', 'keep_time': True, 'keyframe_name': 'rover_1_dock'},
         'unknown_keyframe'),
    ):  # fmt: skip
        assert server.code('reset', **wrong) == code
    assert np.array_equal(data.qpos[rest], before[rest])
