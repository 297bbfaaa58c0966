# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Replies as stock servers send them."""


def floats(value):
    """Return `value` with every number as float64, as stock servers pack msgpack."""
    if isinstance(value, dict):
        return {key: floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [floats(item) for item in value]
    return float(value) if type(value) is int else value


def step_ok(step=1, time=0.002, op='step_ok'):
    """Return a step reply at level standard."""
    rover = {
        'qpos': [float(i) for i in range(9)],
        'qvel': [0.5] * 8,
        'ctrl': [0.0, 1.0],
        'act': [0.0, 0.0],
        'sensors': {'gyro': [0.0, 0.0, 9.5]},
        'twist': {'linear': [1, 0, 0], 'angular': [0, 0, 0.5]},
        'actions': 3,
    }
    pallet = {'xpos': [1, 2, 3], 'xquat': [1, 0, 0, 0]}
    return {
        'op': op,
        'time': time,
        'step': step,
        'sim_time': {'sec': 0, 'nsec': int(time * 1e9)},
        'wall_time': {'sec': 1714125000, 'nsec': 123000000},
        'per_articulation': {'rover': rover},
        'entities': {'pallet': pallet},
    }
