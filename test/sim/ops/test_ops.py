# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every op that changes the run or reads the world."""

import pytest


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
