# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A reset with keep_state: the clock is set back, and nothing else."""

import numpy as np
import pytest


def physics(rig):
    data = rig.simulation.world.data
    return [np.array(getattr(data, name)) for name in ('qpos', 'qvel', 'act', 'ctrl')]


def test_keep_state_resets_the_clock_only(rover):
    rover.ask('set_twist', articulation='rover', linear=[0.5, 0, 0], angular=[0, 0, 0.3])
    rover.ask('step', n_steps=400)
    before, epoch = physics(rover), rover.simulation.engine.clock.epoch
    reply = rover.ask('reset', keep_state=True)
    assert (reply['time'], reply['step']) == (0.0, 0)
    assert reply['sim_time'] == {'sec': 0, 'nsec': 0}
    assert rover.simulation.engine.clock.epoch == epoch + 1
    for old, new in zip(before, physics(rover), strict=True):
        assert np.array_equal(old, new)
    reply = rover.ask('step', n_steps=10)
    assert reply['step'] == 10 and reply['time'] == pytest.approx(0.02)
