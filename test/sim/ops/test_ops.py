# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every op that changes the run or reads the world."""

import pytest


def test_twist_drives_within_limits_and_stops_by_itself(rover):
    limits = rover.ask('hello', shared=True)['articulations'][0]['twist_controller']['limits']
    reply = rover.ask('set_twist', linear=[99, 1, 1], angular=[9, 9, 0], timeout=0.5)
    assert reply['articulation'] == 'rover'
    assert 1.0 <= reply['linear'][0] <= limits['linear'] and reply['linear'][1:] == [0.0, 0.0]
    assert reply['angular'] == [0.0, 0.0, 0.0]
    rover.ask('set_twist', linear=[1, 0, 0], timeout=1.0)
    report = rover.ask('step', n_steps=450)['per_articulation']['rover']
    assert report['twist']['linear'] == [1.0, 0.0, 0.0]
    assert report['qvel'][0] == pytest.approx(1.0, abs=0.03)
    report = rover.ask('step', n_steps=550)['per_articulation']['rover']
    assert report['twist']['linear'] == [0.0, 0.0, 0.0]
    assert report['qvel'][0] == pytest.approx(0.0, abs=0.02)


def test_a_robot_without_a_drive_holds_the_twist_for_a_policy(rig):
    arms = rig(world='bimanual')
    arms.ask('set_mode', mode='direct')
    (block,) = arms.ask('hello', shared=True)['articulations']
    assert block['twist_controller'] == {
        'kind': 'command',
        'limits': {},
        'timeout': None,
        'actuators': [],
    }
    before = arms.data.ctrl.copy()
    reply = arms.ask('set_twist', linear=[0.4, -0.1, 9], angular=[9, 9, 0.5], timeout=0.1)
    assert reply['linear'] == [0.4, -0.1, 0.0] and reply['angular'] == [0.0, 0.0, 0.5]
    held = {'linear': [0.4, -0.1, 0.0], 'angular': [0.0, 0.0, 0.5]}
    seen = arms.ask('forward')['per_articulation']['bimanual']
    assert seen['twist'] == held and seen['actions'] == 0
    timestep = arms.model.opt.timestep
    seen = arms.ask('step', n_steps=round(0.09 / timestep))['per_articulation']['bimanual']
    assert seen['twist'] == held
    seen = arms.ask('step', n_steps=round(0.02 / timestep))['per_articulation']['bimanual']
    assert seen['twist'] == {'linear': [0.0] * 3, 'angular': [0.0] * 3}
    assert before.shape == arms.data.ctrl.shape
    arms.ask('set_twist', linear=[1, 0, 0])
    seen = arms.ask('reset')['per_articulation']['bimanual']
    assert seen['twist']['linear'] == [0.0] * 3


def test_a_held_twist_moves_nothing(rig):
    still, told = rig(world='bimanual'), rig(world='bimanual')
    for server in (still, told):
        server.ask('set_mode', mode='direct')
    told.ask('set_twist', linear=[1, 1, 0], angular=[0, 0, 1])
    for server in (still, told):
        server.ask('step', n_steps=50)
    assert still.data.qpos.tolist() == told.data.qpos.tolist()
    assert still.data.ctrl.tolist() == told.data.ctrl.tolist()


def test_a_held_twist_ends_in_the_time_of_a_puppeteer_too(rig):
    server = rig(world='bimanual')
    server.ask('set_mode', mode='puppet')
    server.ask('set_twist', linear=[0.3, 0, 0], timeout=0.5)
    twists = [
        server.ask('step', time=time)['per_articulation']['bimanual']['twist']['linear'][0]
        for time in (0.1, 0.4, 0.6)
    ]
    assert twists == [0.3, 0.3, 0.0]


def test_the_sidecar_limits_a_held_twist_or_refuses_it(rig, tmp_path):
    (tmp_path / 'arm.xml').write_text(
        '<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody></mujoco>'
    )
    limited = '{kind: command, limits: {linear: 0.5, linear_acceleration: 1.0}, timeout: 2.0}'
    for name, twist in (('held', limited), ('plain', 'null'), ('never', '{kind: none}')):
        (tmp_path / f'{name}.yaml').write_text(
            f'articulations: [{{prefix: arm, model: arm.xml, twist: {twist}}}]'
        )
    held, plain, never = (
        rig(model=tmp_path / f'{name}.yaml') for name in ('held', 'plain', 'never')
    )
    assert held.ask('set_twist', linear=[2, 2, 0])['linear'] == [0.5, 2.0, 0.0]
    assert plain.ask('set_twist', linear=[2, 2, 0])['linear'] == [2.0, 2.0, 0.0]
    assert never.code('set_twist', linear=[2, 2, 0]) == 'no_twist_controller'
    blocks = [each.ask('hello')['articulations'][0] for each in (held, plain, never)]
    assert blocks[0]['twist_controller'] == {
        'kind': 'command', 'limits': {'linear': 0.5, 'linear_acceleration': 1.0}, 'timeout': 2.0,
        'actuators': [],
    }  # fmt: skip
    assert 'twist_controller' in blocks[1] and 'twist_controller' not in blocks[2]
    held.ask('set_mode', mode='direct')
    seen = held.ask('step', n_steps=50)['per_articulation']['arm']['twist']['linear']
    assert 0 < seen[1] < 0.2  # it ramps: 0.1 s at 1 m/s^2


def test_controller_gains_are_patched_and_echoed(quadruped):
    before = quadruped.ask('configure_controller', articulation='quadruped', params={})['params']
    after = quadruped.ask(
        'configure_controller', articulation='quadruped', params={'kp': {'FL_hip': 33.0}}
    )['params']
    assert after['kp']['FL_hip'] == 33.0 and after['kv'] == before['kv']
    for params in ({'kp': {'tail': 1}}, {'kp': 'high'}, {'ki': {}}, {'default_kv': -1.0}):
        assert quadruped.code('configure_controller', articulation='quadruped',
                              params=params) == 'controller_schema_violation'  # fmt: skip
    assert after == quadruped.ask(
        'configure_controller', articulation='quadruped', params={})['params']  # fmt: skip


def test_set_qpos_whole_or_free_base(rover):
    base = [0.5, 0.2, 0.1, 1.0, 0.0, 0.0, 0.0]
    reply = rover.ask('set_qpos', target='rover', qpos=base)
    assert reply['free_base_shortcut'] is True and reply['actor_name'] == 'rover'
    whole = [*base, 0.3, 0.4]
    reply = rover.ask('set_qpos', target='rover', target_by='Actor_Name', qpos=whole)
    assert reply['free_base_shortcut'] is False and reply['qpos'] == whole
    assert rover.ask('forward')['per_articulation']['rover']['qpos'] == whole


def test_a_robot_without_joints_has_none_to_set(rig, tmp_path):
    (tmp_path / 'post.xml').write_text(
        '<mujoco><worldbody><body name="post"><geom size="0.1"/></body></worldbody></mujoco>'
    )
    (tmp_path / 'world.yaml').write_text('articulations: [{prefix: post, model: post.xml}]')
    server = rig(model=tmp_path / 'world.yaml')
    assert server.code('set_qpos', target='post', qpos=[1.0]) == 'no_joints'


def test_mocap_poses_are_written_and_read(rover):
    pose = {'pos': [1.0, 2.0, 3.0], 'quat': [0.0, 1.0, 0.0, 0.0]}
    reply = rover.ask('set_mocap_pose', body='target', **pose)
    assert {key: reply[key] for key in pose} == pose
    assert rover.ask('read_mocap_pose', body='target')['pos'] == pose['pos']
    assert rover.ask('forward')['entities']['target']['xpos'] == pose['pos']


def test_contacts_carry_names_forces_and_truncation(rover):
    rover.ask('step', n_steps=200)
    found = rover.ask('get_contacts')
    assert found['n_contacts'] == len(found['contacts']) >= 4 and not found['truncated']
    total = sum(contact['force'][0] for contact in found['contacts'])
    roots = [rover.model.body(name).id for name in ('rover_base_link', 'pallet')]
    mass = sum(rover.model.body_subtreemass[root] for root in roots)
    assert total == pytest.approx(mass * 9.81, rel=0.1)
    one = rover.ask('get_contacts', max_contacts=1)
    assert one['n_contacts'] == 1 and one['truncated'] is True
    bodies = {contact['body2'] for contact in found['contacts']} - {'world'}
    body = sorted(bodies)[0]
    some = rover.ask('get_contacts', filter={'body2': body})
    assert {contact['body2'] for contact in some['contacts']} == {body}
    assert rover.ask('get_contacts', filter={'body1': body, 'body2': body})['n_contacts'] == 0


def test_sim_options_are_echoed_and_applied(rover):
    wanted = {'timestep': 0.004, 'gravity': [0.0, 0.0, -1.62], 'integrator': 'RK4',
              'cone': 'elliptic', 'solver': 'cg', 'iterations': 7, 'enable_sleep': True,
              'enable_multiccd': False}  # fmt: skip
    echoed = rover.ask('set_sim_options', options=wanted)['options']
    assert {**echoed, **wanted, 'integrator': 'rk4'} == echoed
    assert rover.model.opt.timestep == 0.004
    assert rover.ask('step', n_steps=1)['time'] == pytest.approx(0.004)
    assert rover.ask('set_sim_options', options={'enable_sleep': False})['options'][
        'enable_sleep'] is False  # fmt: skip


def test_speed_is_clamped_and_control_source_has_a_scope(rover):
    assert rover.ask('set_sim_speed', percent=1)['percent'] == 5.0
    assert rover.ask('set_sim_speed', percent=400)['percent'] == 100.0
    assert rover.ask('set_control_source', source='UI') == {
        'op': 'set_control_source_ok', 'source': 'ui', 'scope': 'global'}  # fmt: skip
    # The actuators no longer listen to what clients send.
    reply = rover.ask('step', per_articulation={'rover': {'ctrl': [1.0, 1.0]}})
    assert reply['per_articulation']['rover']['ctrl'] == [0.0, 0.0]
    reply = rover.ask('set_control_source', source='zmq', articulation='rover')
    assert reply['scope'] == 'articulation' and reply['articulation'] == 'rover'
    assert rover.ask('step')['per_articulation']['rover']['ctrl'] == [1.0, 1.0]


def test_a_pinned_mode_is_tested_before_the_mode_itself(rig):
    pinned = rig(step_mode='direct')
    for fields in ({'mode': 'live'}, {'mode': 'nonsense'}, {}):
        assert pinned.code('set_mode', **fields) == 'mode_locked_by_server'
    assert pinned.ask('status')['pinned'] is True


def test_mode_aliases_and_forced_unpause(rig):
    rover = rig()
    rover.ask('set_paused', paused=True)
    assert rover.ask('set_mode', mode='Direct') == {
        'op': 'set_mode_ok', 'previous_mode': 'live', 'current_mode': 'direct'}  # fmt: skip
    assert rover.ask('status')['paused'] is False
    assert rover.ask('set_mode', mode='streaming')['current_mode'] == 'live'


@pytest.mark.parametrize(
    ('op', 'fields'),
    [
        ('apply_wrench', lambda text: {'body': 'pallet', 'force': [1, 0, 0], 'name': text}),
        ('hello', lambda text: {'shared': True, 'camera_header': text}),
        ('step', lambda text: {'topics': ['rover/twist', text]}),
        ('recording_start', lambda text: {'name': text * 20}),
        ('set_twist', lambda text: {'articulation': text * 20}),
    ],
)
def test_no_text_that_a_client_gives_is_kept_at_any_length(shared_rig, op, fields):
    assert shared_rig.reply(op, **fields('x' * 256)).get('code') != 'internal_error'
    assert shared_rig.code(op, **fields('x' * 257)) in ('bad_value', 'unknown_articulation')


@pytest.mark.parametrize('time', ['-1.5', '-1e-9', '1e300', '1.1e9', '1' + 400 * '0', 'NaN'])
def test_no_time_is_taken_that_a_reply_cannot_hold(rig, mjcf, tmp_path, time):
    """By a puppet, a recording or a keyframe: `status` and `get_entities` serve all clients."""
    keyframe = '-1' if len(time) > 400 or time == 'NaN' else time
    made = rig(
        model=str(
            mjcf(
                '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body>'
                f'</worldbody><keyframe><key name="k" time="{keyframe}"/></keyframe></mujoco>'
            )
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
