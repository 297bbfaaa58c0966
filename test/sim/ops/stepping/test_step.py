# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step, reset and forward in every mode, against MuJoCo itself."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.wire.encoding.codec import unpack


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


def test_setpoints_for_a_state_before_a_reset_of_their_robot_are_refused(rig):
    fleet = rig(world='fleet')

    def shown(robot):
        return unpack(fleet.simulation.observer.snapshot())['per_articulation'][robot]['resets']

    def code(robot, resets, speed=1.0):
        values = {'left_wheel': speed}
        return fleet.reply('set_setpoints', articulation=robot, values=values, resets=resets).get(
            'code'
        )

    first, second = 'rover_1', 'rover_2'
    for way, others in (({}, True), ({'articulation': first, 'keep_time': True}, False)):
        before = {robot: shown(robot) for robot in (first, second)}
        fleet.ask('reset', **way)
        assert code(first, before[first]) == 'stale_command'
        assert code(first, before[first], 0.0) is None  # who stops is never too late
        assert code(first, shown(first)) is None
        assert code(second, before[second]) == ('stale_command' if others else None)


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
    commands = np.random.default_rng(1).uniform(-5, 5, (200, model.nu))
    for number, ctrl in enumerate(commands):
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
        ({'qpos_map': {'left_wheel': float('nan')}}, 'bad_value'),
        ({'qpos_map': {'rover_base': [0.0] * 7}}, 'a rotation'),
        ({'qpos_map': {'left_wheel': 1.0}, 'time': 'soon'}, 'time'),
    ],
)
def test_a_wrong_push_by_joint_changes_nothing(rover, fields, words):
    rover.ask('set_mode', mode='puppet')
    before = rover.data.qpos.copy()
    with pytest.raises(Exception, match=words):
        rover.ask('step', **fields)
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
        ({'articulation': 'rover_2', 'keep_time': True, 'keyframe_name': 'rover_1_dock'},
         'unknown_keyframe'),
    ):  # fmt: skip
        assert server.code('reset', **wrong) == code
    assert np.array_equal(data.qpos[rest], before[rest])


@pytest.mark.parametrize('time', ['-1e-9', '1.1e9', '1' + 400 * '0', 'NaN'])
def test_times_that_a_reply_cannot_hold_are_refused(rig, mjcf, tmp_path, time):
    """By a puppet, a recording or a keyframe: `status` and `get_entities` serve all clients."""
    keyframe = '-1' if len(time) > 400 or time == 'NaN' else time
    made = rig(
        model=mjcf(
            '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body>'
            f'</worldbody><keyframe><key name="k" time="{keyframe}"/></keyframe></mujoco>'
        ),
        data_dir=tmp_path,
    )
    made.ask('set_mode', mode='puppet')
    frame = f'{{"timestamp":{time},"jointStates":{{"j":{{"qPos":[0],"qVel":[0]}}}}}}'
    (tmp_path / 'Replays').mkdir()
    (tmp_path / 'Replays' / 'odd.json').write_text(f'{{"Frames":[{frame}]}}')
    assert made.code('step', time=float(time)) == 'bad_value'
    assert made.code('replay_load', path='odd.json') == 'path_not_readable'
    assert made.code('reset', keyframe_name='k') == 'bad_value'
    for op in ('status', 'get_entities', 'forward', 'step'):
        assert made.ask(op)
