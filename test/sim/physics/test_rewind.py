# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A reset with keep_state: the clock goes back, and nothing else."""

import numpy as np
import pytest


def physics(rig):
    data = rig.context.world.data
    return [np.array(getattr(data, name)) for name in ('qpos', 'qvel', 'act', 'ctrl')]


def test_the_clock_is_at_its_start_and_the_state_is_what_it_was(rover):
    rover.ask('set_twist', articulation='rover', linear=[0.5, 0, 0], angular=[0, 0, 0.3])
    rover.ask('step', n_steps=400)
    before, epoch = physics(rover), rover.context.engine.clock.epoch
    reply = rover.ask('reset', keep_state=True)
    assert (reply['time'], reply['step']) == (0.0, 0)
    assert reply['sim_time'] == {'sec': 0, 'nsec': 0}
    assert rover.context.engine.clock.epoch == epoch + 1
    for old, new in zip(before, physics(rover), strict=True):
        assert np.array_equal(old, new)
    reply = rover.ask('step', n_steps=10)
    assert reply['step'] == 10 and reply['time'] == pytest.approx(0.02)


def test_the_physics_goes_on_as_if_nothing_had_been(rig):
    """Nothing in this world depends on the time, so both runs are the same."""
    runs = [rig(world='quadruped') for _ in range(2)]
    for index, run in enumerate(runs):
        run.ask('set_mode', mode='direct')
        run.ask('reset', seed=3)
        run.ask('step', n_steps=50)
        if index:
            run.ask('reset', keep_state=True)
        run.ask('step', n_steps=50)
    for one, other in zip(*map(physics, runs), strict=True):
        assert np.array_equal(one, other)


def test_what_was_commanded_until_some_time_ends(rover):
    world = rover.context.world
    rover.ask('set_twist', articulation='rover', linear=[1, 0, 0], timeout=5.0)
    rover.ask('apply_wrench', articulation='rover', force=[0, 0, 5], duration=5.0)
    rover.ask('step', n_steps=200)
    assert rover.context.engine.external.active
    rover.ask('reset', keep_state=True)
    assert not rover.context.engine.external.active
    rover.ask('step', n_steps=1500)
    assert np.abs(world.data.qvel[:2]).max() < 0.02


def test_scanners_measure_at_the_new_time(rover):
    rover.ask('step', n_steps=77)
    rover.ask('reset', keep_state=True)
    scanners = rover.context.engine.sensing._lidars
    assert scanners and all(scanner.is_of(0.0) for scanner in scanners)


@pytest.mark.parametrize(
    'other',
    [
        {'keyframe_name': 'home'},
        {'seed': 3},
        {'keep_time': True},
        {'per_articulation_qpos': {'rover': {'left_wheel': 0.1}}},
    ],
)
def test_it_goes_with_nothing_else(rover, other):
    rover.ask('step', n_steps=10)
    assert rover.code('reset', keep_state=True, **other) == 'bad_value'
    assert rover.context.engine.clock.steps == 10
