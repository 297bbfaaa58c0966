# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step, reset and forward in every mode, against MuJoCo itself."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.wire.encoding.codec import unpack


def test_topics_are_strings_and_their_caches_are_bounded(rover):
    for wrong in ('rover/', {'rover': []}, [1], [''] * 1001):
        assert rover.code('step', topics=wrong) == 'bad_value'
    assert rover.data.time == 0.0
    observer = rover.simulation.observer
    for number in range(100):
        reply = rover.ask('step', topics=[f'rover/sensor/{number}'], observations='snapshot')
        assert reply['per_articulation']['rover']['sensors'] == {}
        assert len(observer._layouts) <= 32 and len(observer._packed) <= 64
    everything = rover.ask('step', topics=[''], observations='full')
    assert set(everything['per_articulation']['rover']) == {
        'qpos', 'qvel', 'sensors', 'twist', 'actions'}  # fmt: skip


def test_a_twist_in_a_step_ends_at_its_timeout(rover):
    twist = {'linear': [0.5, 0.0, 0.0], 'timeout': 0.05}
    rover.ask('step', n_steps=10, per_articulation={'rover': {'twist': twist}})
    seen = rover.ask('step', n_steps=500)['per_articulation']['rover']
    assert seen['twist']['linear'] == [0.0] * 3


def test_a_twist_for_a_state_before_a_reset_is_refused_whole(rover):
    def shown():
        return unpack(rover.simulation.observer.snapshot())['resets']

    def twist(resets, speed=0.5):
        return {'linear': [speed, 0.0, 0.0], 'resets': resets}

    seen = shown()
    rover.ask('step', per_articulation={'rover': {'twist': twist(seen)}})
    for way in ({}, {'keep_time': True}, {'keep_state': True}):
        seen = shown()
        rover.ask('reset', **way)
        assert shown() > seen
        before = rover.data.time
        block = {'rover': {'twist': twist(seen)}}
        assert rover.code('step', per_articulation=block) == 'stale_command'
        assert rover.code('set_twist', articulation='rover', **twist(seen)) == 'stale_command'
        assert rover.data.time == before
        # Who stops is never too late, and who does not say for what state it is always in time.
        rover.ask('set_twist', articulation='rover', **twist(seen, 0.0))
        rover.ask('set_twist', articulation='rover', linear=[0.5, 0.0, 0.0])
        rover.ask('step', per_articulation={'rover': {'twist': twist(shown())}})


def random_commands(seed, count, size):
    return np.random.default_rng(seed).uniform(-5, 5, (count, size))


@pytest.mark.parametrize('world', ['rover', 'quadruped'])
def test_two_hundred_raw_steps_equal_stock_mujoco_bit_for_bit(rig, world):
    server = rig(mode='direct', world=world)
    mjb = server.ask('hello', shared=True)['mjb']
    model = mujoco.MjModel.from_binary_path('m.mjb', {'m.mjb': mjb})
    data = mujoco.MjData(model)
    data.qpos[:] = server.data.qpos  # where the world starts
    scanner = np.array(model.sensor_type) == int(mujoco.mjtSensor.mjSENS_USER)
    plain = np.ones(model.nsensordata, bool)
    for sensor in np.flatnonzero(scanner):
        start = model.sensor_adr[sensor]
        plain[start : start + model.sensor_dim[sensor]] = False
    for number, ctrl in enumerate(random_commands(1, 200, model.nu)):
        count = 1 + number % 3
        reply = server.ask(
            'step',
            n_steps=count,
            per_articulation={world: {'ctrl': ctrl.tolist(), 'control_mode': 'raw'}},
        )
        data.ctrl[:] = ctrl
        mujoco.mj_step(model, data, count)
        mujoco.mj_step1(model, data)  # sensors are those of the new state
        assert reply['time'] == data.time
        for name in ('qpos', 'qvel', 'act', 'ctrl'):
            assert np.array_equal(getattr(server.data, name), getattr(data, name)), number
        assert np.array_equal(server.data.sensordata[plain], data.sensordata[plain])


@pytest.mark.parametrize(
    ('fields', 'words'),
    [
        ({'qpos_map': {'left_wheel': 1.0, 'lft_wheel': 0.1}}, 'bad_value.*lft_wheel.*left_wheel'),
        ({'qpos_map': {'left_wheel': [1.0, 2.0]}}, 'dim_mismatch.*left_wheel has 2.*has 1'),
        ({'qpos_map': {'left_wheel': 1.0, 'rover_left_wheel': 2.0}}, 'another joint than'),
        ({'qpos_map': {'left_wheel': 'far'}}, 'bad_value'),
        ({'qpos_map': {'left_wheel': float('nan')}}, 'bad_value'),
        ({'qpos_map': {'left_wheel': 1.0}, 'qvel_map': {'nobody': 1.0}}, 'nobody'),
        ({'qpos_map': {'rover_base': [0.0] * 7}}, 'a rotation'),
        ({'qpos_map': {'left_wheel': 1.0}, 'time': 'soon'}, 'time'),
    ],
)
def test_a_wrong_push_by_joint_changes_nothing(rover, fields, words):
    rover.ask('set_mode', mode='puppet')
    base = rover.model.joint(0).name
    text = {name: {base if key == 'rover_base' else key: v for key, v in value.items()}
            if isinstance(value, dict) else value for name, value in fields.items()}  # fmt: skip
    before = rover.data.qpos.copy()
    with pytest.raises(Exception, match=words):
        rover.ask('step', **text)
    np.testing.assert_array_equal(rover.data.qpos, before)


def test_a_local_name_of_two_robots_is_refused(rig):
    fleet = rig(world='fleet')
    fleet.ask('set_mode', mode='puppet')
    with pytest.raises(Exception, match=r'left_wheel.*one joint only'):
        fleet.ask('step', qpos_map={'left_wheel': 1.0})
    first = next(iter(fleet.simulation.world.articulations))
    fleet.ask('step', qpos_map={f'{first}_left_wheel': 1.0})
    assert fleet.data.joint(f'{first}_left_wheel').qpos[0] == 1.0


def test_reset_with_keep_time_rewinds_the_state_but_not_the_clock(rover):
    rover.ask('step', n_steps=100, per_articulation={'rover': {'ctrl': [5.0, 5.0]}})
    moved = rover.data.qpos.copy()
    reply = rover.ask('reset', keep_time=True, seed=7,
                      per_articulation_qpos={'rover': {'left_wheel': 0.25}})  # fmt: skip
    assert reply['time'] == pytest.approx(0.2) and reply['step'] == 100
    assert not np.allclose(moved, rover.data.qpos)
    assert reply['per_articulation']['rover']['qpos'][7] == 0.25
    assert rover.ask('step')['step'] == 101
    # Commands from before are forgotten.
    assert rover.ask('step')['per_articulation']['rover']['ctrl'] == [0.0, 0.0]


def test_a_step_that_takes_too_long_is_cut_short(rover, monkeypatch):
    monkeypatch.setattr(run_state, 'STEP_TIMEOUT', 0.1)
    assert rover.code('step', n_steps=10_000_000) == 'step_timeout'
    assert rover.ask('step')['step'] < 1_000_000
