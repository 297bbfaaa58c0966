# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be spawned or deleted, and why."""

import json

import pytest
from spawn_models import ARM
from spawn_models import BOX
from spawn_models import delete
from spawn_models import POST
from spawn_models import spawn
from spawn_models import TETRAHEDRON
from spawn_models import URDF

from urlab_ros_bridge.sim.model.client_models import reader
from urlab_ros_bridge.wire.encoding import codec


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
        ({'name': 'pallet', 'xml': BOX}, "name_taken: .*'pallet2' is free"),
        ({'name': 'rover', 'xml': ARM}, "name_taken: .*'rover2' is free"),
        ({'name': 'rover_2', 'xml': BOX}, 'name_invalid: .*belong to the robot'),
        ({'name': 'rover_2', 'xml': ARM}, "name_invalid: .*'rover2' is free"),
        ({'name': '9', 'xml': BOX}, 'name_invalid: .*begin with a letter'),
        ({'name': 'a.b', 'xml': BOX}, 'name_invalid: .*letters, digits'),
        ({'name': 'world', 'xml': BOX}, 'name_invalid'),
        ({'name': 'scene', 'xml': BOX}, 'name_invalid'),
        ({'name': 'x' * 65, 'xml': BOX}, 'name_invalid: .*too long'),
        ({'xml': BOX}, 'missing_field: name'),
        ({'name': 'a'}, 'missing_field: one of xml and file'),
        ({'name': 'a', 'xml': BOX, 'file': 'rover.yaml'}, 'missing_field: one of'),
        ({'name': 'a', 'xml': 'no'}, 'import_failed: .*not XML'),
        ({'name': 'a', 'xml': '<sdf/>'}, 'import_failed: .*<sdf>, not <mujoco> or <robot>'),
        ({'name': 'a', 'xml': '<mujoco/>'}, 'import_failed: .*empty'),
        ({'name': 'a', 'xml': '<mujoco><x/></mujoco>'}, 'import_failed: .*unrecognized'),
        ({'name': 'a', 'xml': '<mujoco><include file="b.xml"/></mujoco>'}, 'import_failed'),
        ({'name': 'a', 'xml': POST.replace('0.05 0.5', '0')}, 'import_failed: Error: size'),
        ({'name': 'a', 'file': 'nothing.xml'}, r'path_not_readable: .*nothing\.xml'),
        ({'name': 'a', 'file': '/etc/passwd'}, 'path_not_readable: .*not inside'),
        ({'name': 'a', 'file': 'fleet.yaml'}, 'import_failed: .*3 robots'),
        ({'name': 'a', 'xml': BOX, 'quat': [0, 0, 0, 0]}, 'bad_value: quat'),
        ({'name': 'a', 'xml': BOX, 'pos': [0, float('nan'), 0]}, 'bad_value: pos'),
        ({'name': 'a', 'xml': BOX, 'kind': 'lamp'}, 'bad_value: kind'),
        ({'name': 'a', 'xml': ARM, 'kind': 'entity'}, 'bad_value: .*actuators'),
        ({'name': 'a', 'xml': POST, 'kind': 'articulation'}, 'bad_value: .*no body'),
    ],
)  # fmt: skip
def test_what_cannot_be_spawned_is_told_and_changes_nothing(shared_rig, fields, code):
    before = shared_rig.stage.context
    with pytest.raises(Exception, match=code):
        shared_rig.ask('spawn_entity', **fields)
    assert shared_rig.stage.context is before
    assert shared_rig.ask('step')


def test_meshes_are_found_in_the_data_folder_only(rig, tmp_path):
    world = rig(data_dir=tmp_path / 'data')
    folder = tmp_path / 'data' / 'things' / 'meshes'
    folder.mkdir(parents=True)
    for place in (folder, tmp_path):
        (place / 'tetra.obj').write_text(TETRAHEDRON)
    text = (
        '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    (folder.parent / 'thing.xml').write_text(text.format('meshes/tetra.obj'))
    for name, fields in (
        ('a', {'xml': text.format('things/meshes/tetra.obj')}),
        ('b', {'xml': text.format('package://things/meshes/tetra.obj')}),
        ('c', {'file': 'things/thing.xml'}),
        ('d', {'xml': text.format(folder / 'tetra.obj')}),
    ):
        assert world.ask('spawn_entity', name=name, **fields)['name'] == name
    for xml in (text.format('tetra.obj'), text.format(tmp_path / 'tetra.obj')):
        with pytest.raises(Exception, match=r'missing_assets: .*tetra\.obj'):
            world.ask('spawn_entity', name='e', xml=xml)


def test_a_sidecar_is_refused_like_a_model_and_tells_nothing_of_the_disk(rig, tmp_path):
    world = rig(data_dir=tmp_path / 'data')
    (tmp_path / 'data').mkdir()
    (tmp_path / 'there.xml').write_text(BOX)
    mesh = '<mujoco><asset><mesh name="m" file="{}"/></asset></mujoco>'
    kinds = {'a.yaml': 'articulations: [{{prefix: r, model: {}}}]\n', 'a.xml': mesh}
    told = set()
    for file, text in kinds.items():
        for path in (tmp_path / 'there.xml', tmp_path / 'missing.xml'):
            (tmp_path / 'data' / file).write_text(text.format(path))
            with pytest.raises(Exception, match='missing_assets') as caught:
                world.ask('spawn_entity', name='e', file=file)
            told.add(str(caught.value).replace(str(path), ''))
    assert len(told) == 1, told


def test_a_part_of_something_cannot_be_deleted(rig, mjcf):
    path = mjcf("""<mujoco><worldbody><body name="door"><freejoint/><geom size="0.1"/>
      <body name="knob" pos="0 0 1"><geom size="0.1"/></body></body>
      <body name="m" mocap="true"/></worldbody></mujoco>""")
    world = rig(model=str(path))
    spawn(world, 'lid', URDF.format(root='base', joint='revolute'), kind='entity')
    with pytest.raises(Exception, match=r'destroy_failed: lid\.hand'):
        world.ask('delete_entity', entity='lid.hand')
    for name in ('lid', 'door', 'm'):
        delete(world, name)
    assert not world.context.world.entities


def test_nothing_is_changed_under_a_recording_or_a_replay(rig):
    world = rig()
    world.ask('set_mode', mode='direct')
    world.ask('recording_start')
    world.ask('step', n_steps=5)
    assert world.code('spawn_entity', name='box', xml=BOX) == 'recording_already_active'
    assert world.code('delete_entity', entity='pallet') == 'recording_already_active'
    world.ask('recording_stop')
    world.ask('replay_start')
    assert world.code('spawn_entity', name='box', xml=BOX) == 'not_ready'
    world.ask('replay_stop')
    spawn(world, 'box', BOX)
    assert world.ask('status')['recording']['frames'] == 5
    assert world.ask('replay_start')['total_frames'] == 5, 'frames are found by joint names'
    world.ask('step', n_steps=3)
    world.ask('replay_stop')
    world.ask('recording_start')
    world.ask('step', n_steps=2)
    assert world.ask('recording_stop')['frame_count'] == 2


FREE = '<mujoco><worldbody><body><freejoint/>{}</body></worldbody></mujoco>'
PLACES = {
    'size': FREE.format('<geom type="box" size="{0} {0} {0}" mass="1"/>'),
    'pos': FREE.format('<geom size="0.1" pos="{0} 0 1"/>'),
    'mass': FREE.format('<geom size="0.1" mass="{0}"/>'),
    'inertia': FREE.format(
        '<inertial pos="0 0 0" mass="1" diaginertia="{0} {0} {0}"/><geom size="0.1"/>'
    ),
    'stiffness': '<mujoco><worldbody><body><joint stiffness="1" springref="{0}"/>'
    '<geom size="0.1"/></body></worldbody></mujoco>',
    'gravcomp': '<mujoco><worldbody><body gravcomp="{0}"><freejoint/><geom size="0.1"/>'
    '</body></worldbody></mujoco>',
}
NUMBERS = ('inf', '-inf', 'nan', '1e308', '1e10', '-1', '0', '1' + '0' * 400, '1e-300')


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('number', NUMBERS)
def test_no_number_in_a_model_sets_the_running_world_back(shared_rig, place, number):
    """Either it is refused, or the world with it can be stepped: time goes on in both cases."""
    stage = shared_rig.stage
    shared_rig.ask('step', n_steps=5)
    time, epoch = stage.context.world.data.time, stage.context.engine.clock.epoch
    xml = PLACES[place].format(number)
    reply = shared_rig.reply('spawn_entity', name='odd', xml=xml, pos=[0, 0, 3])
    assert reply.get('code') in (None, 'import_failed')
    shared_rig.ask('step', n_steps=20)
    assert stage.context.engine.clock.epoch == epoch
    assert stage.context.world.data.time > time
    if 'code' not in reply:
        shared_rig.ask('delete_entity', entity='odd')


def test_a_model_with_which_a_step_would_be_long_is_refused(rig, monkeypatch):
    world = rig()
    before = world.stage.context
    monkeypatch.setattr(reader, 'STEP_SECONDS', -1.0)  # clocks of processes may be coarse
    with pytest.raises(Exception, match=r'import_failed: a step would take .* s of processor'):
        world.ask('spawn_entity', name='a', xml=BOX)
    assert world.stage.context is before and world.ask('step')


@pytest.mark.parametrize('digits', [400, 4000])
def test_numbers_of_any_length_are_answered_with_a_typed_error(shared_rig, digits):
    number = 10**digits
    for op, fields in (
        ('spawn_entity', {'name': 'a', 'xml': BOX, 'pos': [number, 0, 0]}),
        ('step', {'n_steps': number}),
        ('set_sim_options', {'options': {'timestep': number}}),
        ('reset', {'seed': -number}),
    ):
        request = {'op': op, 'session_id': shared_rig.session_id, **fields}
        reply = json.loads(
            json.dumps(codec.unpack(shared_rig.exchange(json.dumps(request).encode())))
        )
        assert reply['code'] in ('bad_value', 'bad_request'), reply
