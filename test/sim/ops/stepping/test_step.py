# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step, reset and forward in every mode, against MuJoCo itself."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.wire.encoding.codec import unpack


@pytest.mark.parametrize(
    ('topics', 'fields', 'sensors', 'entities'),
    [
        ([], set(), set(), set()),
        (['rover/base_state/', 'nobody/joint/'], set(), set(), set()),
        (['rover/sensor/imu_'], set(), {'imu_gyro', 'imu_accel', 'imu_mag', 'imu_quat'}, set()),
        (['rover/sensor/scan', 'rover/joint/'], {'scan_stamps'}, {'scan'}, set()),
        (['rover/effort', 'rover/twist'], {'effort', 'twist', 'actions'}, set(), set()),
        (['scene/target/xquat'], set(), set(), {'target'}),
        (['scene/'], set(), set(), {'pallet', 'target'}),
    ],
)
def test_a_reply_shows_what_rows_with_the_chosen_topics_do(rig, topics, fields, sensors, entities):
    """Whether the request is the first of its kind or one that repeats."""
    whole, narrow = rig(world='rover'), rig(world='rover')
    for number in range(5):
        twist = {'linear': [0.1 * number, 0.0, 0.0], 'angular': [0.0, 0.0, 0.1]}
        request = {
            'n_steps': 30,
            'observations': 'snapshot',
            'per_articulation': {'rover': {'twist': twist}},
        }
        expected, found = (
            whole.ask('step', **request),
            narrow.ask('step', **request, topics=topics),
        )
        robot, shown = (reply['per_articulation']['rover'] for reply in (expected, found))
        kept = {name: robot[name] for name in ('qpos', 'qvel', 'sensors', *fields)}
        assert shown == {**kept, 'sensors': {name: robot['sensors'][name] for name in sensors}}
        assert found['entities'] == {name: expected['entities'][name] for name in entities}
        for name in ('time', 'step', 'sim_time', 'resets', 'mode'):
            assert found[name] == expected[name]


def test_topics_are_texts_and_any_number_of_choices_costs_no_more_memory(rover):
    for wrong in ('rover/', {'rover': []}, [1], [''] * 1001):
        assert rover.code('step', topics=wrong) == 'bad_value'
    assert rover.data.time == 0.0
    observer = rover.context.observer
    for number in range(100):
        reply = rover.ask('step', topics=[f'rover/sensor/{number}'], observations='snapshot')
        assert reply['per_articulation']['rover']['sensors'] == {}
        assert len(observer._layouts) <= 32 and len(observer._packed) <= 64
    everything = rover.ask('step', topics=[''], observations='full')
    assert set(everything['per_articulation']['rover']) == {
        'qpos', 'qvel', 'sensors', 'twist', 'actions'}  # fmt: skip


def test_a_twist_in_a_step_is_set_twist_before_it_bit_for_bit(rig):
    states = []
    for together in (False, True):
        rover = rig()
        rover.ask('set_mode', mode='direct')
        for number in range(20):
            twist = {
                'linear': [0.1 * number, 0.0, 0.0],
                'angular': [0.0, 0.0, -0.5],
                'timeout': 0.05,
            }
            if together:
                rover.ask('step', n_steps=7, per_articulation={'rover': {'twist': twist}})
            else:
                rover.ask('set_twist', articulation='rover', **twist)
                rover.ask('step', n_steps=7)
        rover.ask('step', n_steps=50)  # until after the timeout
        states.append((rover.data.qpos.copy(), rover.data.qvel.copy(), rover.data.time))
    for one, other in zip(*states, strict=True):
        assert np.array_equal(one, other)
    assert abs(states[0][0]).max() > 0.1


def test_a_step_with_a_wrong_twist_does_nothing(rover):
    before = rover.data.qpos.copy()
    for wrong in ({'linear': [float('nan')] * 3}, {'linear': 'fast'}, {'timeout': -1.0}, 7):
        block = {'ctrl': [1, 1], 'twist': wrong}
        code = rover.code('step', per_articulation={'rover': block})
        assert code in ('bad_value', 'dim_mismatch')
    assert np.array_equal(rover.data.qpos, before) and not rover.data.ctrl.any()


def test_a_twist_for_a_state_before_a_reset_is_refused_whole(rover):
    def shown():
        return unpack(rover.context.observer.snapshot())['resets']

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
    server = rig(world=world)
    server.ask('set_mode', mode='direct')
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
        ({'qpos_map': {'left_wheel': None}}, 'bad_value'),
        ({'qpos_map': [1.0]}, 'bad_value.*a map'),
        ({'qpos_map': {'left_wheel': [[1.0]]}}, 'bad_value'),
        ({'qpos_map': {'left_wheel': True}}, 'bad_value'),
        ({'qpos_map': {'left_wheel': {'a': 1}}}, 'bad_value'),
        ({'qpos_map': {'': 1.0}}, 'bad_value'),
        ({'qvel_map': {'left_wheel': []}}, 'dim_mismatch'),
        ({'qpos_map': {'rover_base': [0.0] * 7}}, 'a rotation'),
        ({'qpos_map': {'left_wheel': 1.0}, 'qvel_map': {'nobody': 1.0}}, 'nobody'),
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
    first = next(iter(fleet.context.world.articulations))
    fleet.ask('step', qpos_map={f'{first}_left_wheel': 1.0})
    assert fleet.data.joint(f'{first}_left_wheel').qpos[0] == 1.0


@pytest.mark.parametrize('mode', ['direct', 'puppet'])
def test_what_is_only_for_live_mode_changes_nothing_in_another_one(rig, mode):
    rover = rig()
    only_live = {'n_steps': 3, 'while_live': True}

    def command(value):
        return {'rover': {'ctrl': [value, value]}}

    for value in (1.0, 2.0, 3.0):  # also when the request is known already
        rover.ask('step', per_articulation=command(value), **only_live)
    rover.ask('set_mode', mode=mode)
    before = rover.ask('forward')
    for value in (4.0, 5.0, 6.0):
        assert rover.code('step', per_articulation=command(value), **only_live) == 'not_live'
    after = rover.ask('forward')
    assert (after['step'], after['time']) == (before['step'], before['time'])
    assert after['per_articulation'] == before['per_articulation']
    assert rover.context.engine.controls['rover'].slots['zmq'].tolist() == [3.0, 3.0]
    assert rover.code('step', while_live='yes') == 'bad_value'


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


def test_a_step_while_paused_times_out_and_is_not_done_later(rover, monkeypatch):
    monkeypatch.setattr(run_state, 'STEP_TIMEOUT', 0.2)
    rover.ask('set_paused', paused=True)
    command = {'rover': {'ctrl': [9.0, 9.0]}}
    assert rover.code('step', n_steps=5, per_articulation=command) == 'step_timeout'
    rover.ask('set_paused', paused=False)
    reply = rover.ask('step', n_steps=1)
    assert reply['step'] == 1 and reply['per_articulation']['rover']['ctrl'] == [0.0, 0.0]


def test_a_step_that_takes_too_long_is_cut_short(rover, monkeypatch):
    monkeypatch.setattr(run_state, 'STEP_TIMEOUT', 0.1)
    assert rover.code('step', n_steps=10_000_000) == 'step_timeout'
    assert rover.ask('step')['step'] < 1_000_000
