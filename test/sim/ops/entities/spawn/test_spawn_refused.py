# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be spawned or deleted, and why."""

import pytest
from spawn_models import ARM
from spawn_models import BOX
from spawn_models import delete
from spawn_models import spawn
from spawn_models import URDF

from urlab_ros_bridge.sim.model.client_models import reader


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
    ({'name': 'pallet', 'xml': BOX}, "name_taken: .*'pallet2' is free"),
    ({'name': 'rover_2', 'xml': BOX}, 'name_invalid: .*belong to the robot'),
    ({'name': '9', 'xml': BOX}, 'name_invalid: .*begin with a letter'),
    ({'name': 'world', 'xml': BOX}, 'name_invalid'),
    ({'xml': BOX}, 'missing_field: name'),
    ({'name': 'a', 'xml': BOX, 'file': 'rover.yaml'}, 'missing_field: one of'),
    ({'name': 'a', 'xml': '<sdf/>'}, 'import_failed: .*<sdf>, not <mujoco> or <robot>'),
    ({'name': 'a', 'xml': '<mujoco><x/></mujoco>'}, 'import_failed: .*unrecognized'),
    ({'name': 'a', 'file': 'nothing.xml'}, r'path_not_readable: .*nothing\.xml'),
    ({'name': 'a', 'file': '/etc/passwd'}, 'path_not_readable: .*not inside'),
    ({'name': 'a', 'file': 'fleet.yaml'}, 'import_failed: .*3 robots'),
    ({'name': 'a', 'xml': BOX, 'quat': [0, 0, 0, 0]}, 'bad_value: quat'),
    ({'name': 'a', 'xml': BOX, 'kind': 'lamp'}, 'bad_value: kind'),
    ({'name': 'a', 'xml': ARM, 'kind': 'entity'}, 'bad_value: .*actuators'),
],
)  # fmt: skip
def test_a_refused_spawn_has_its_code_and_changes_nothing(shared_rig, fields, code):
    before = shared_rig.host.simulation
    with pytest.raises(Exception, match=code):
        shared_rig.ask('spawn_entity', **fields)
    assert shared_rig.host.simulation is before
    assert shared_rig.ask('step')


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
    assert not world.simulation.world.entities


def test_the_world_cannot_change_during_a_recording_or_replay(rig):
    world = rig(mode='direct')
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
    'mass': FREE.format('<geom size="0.1" mass="{0}"/>'),
    'stiffness': '<mujoco><worldbody><body><joint stiffness="1" springref="{0}"/>'
    '<geom size="0.1"/></body></worldbody></mujoco>',
}
NUMBERS = ('inf', '-inf', 'nan', '1e308', '1e10', '-1', '0', '1' + '0' * 400, '1e-300')


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('number', NUMBERS)
def test_no_number_in_a_spawned_model_resets_the_running_world(shared_rig, place, number):
    """Either it is refused, or the world with it can be stepped: time continues in both cases."""
    host = shared_rig.host
    shared_rig.ask('step', n_steps=5)
    time, epoch = host.simulation.world.data.time, host.simulation.engine.clock.epoch
    xml = PLACES[place].format(number)
    reply = shared_rig.reply('spawn_entity', name='odd', xml=xml, pos=[0, 0, 3])
    assert reply.get('code') in (None, 'import_failed')
    shared_rig.ask('step', n_steps=20)
    assert host.simulation.engine.clock.epoch == epoch
    assert host.simulation.world.data.time > time
    if 'code' not in reply:
        shared_rig.ask('delete_entity', entity='odd')


def test_a_model_with_which_a_step_would_be_long_is_refused(rig, monkeypatch):
    world = rig()
    before = world.host.simulation
    monkeypatch.setattr(reader, 'STEP_SECONDS', -1.0)  # clocks of processes may be coarse
    with pytest.raises(Exception, match=r'import_failed: a step would take .* s of processor'):
        world.ask('spawn_entity', name='a', xml=BOX)
    assert world.host.simulation is before and world.ask('step')
