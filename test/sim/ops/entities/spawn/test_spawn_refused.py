# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be spawned or deleted, and why."""

import pytest
from spawn_models import ARM
from spawn_models import BOX
from spawn_models import delete
from spawn_models import LID
from spawn_models import spawn

FINE_MESH = """<mujoco><asset><mesh name="m" builtin="supersphere" params="900 .5 .5"/></asset>
<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
    ({'name': 'pallet', 'xml': BOX}, "name_taken: .*'pallet2' is free"),
    ({'name': 'rover_2', 'xml': BOX}, 'name_invalid: .*belong to the robot'),
    ({'name': '9', 'xml': BOX}, 'name_invalid'),
    ({'name': 'a', 'xml': BOX, 'file': 'rover.yaml'}, 'missing_field: one of'),
    ({'name': 'a', 'xml': '<mujoco><x/></mujoco>'}, 'import_failed'),
    ({'name': 'a', 'file': '/etc/passwd'}, 'path_not_readable: .*not inside'),
    ({'name': 'a', 'file': 'fleet.yaml'}, 'import_failed: .*3 robots'),
    ({'name': 'a', 'xml': BOX, 'quat': [0, 0, 0, 0]}, 'bad_value: quat'),
    ({'name': 'a', 'xml': ARM, 'kind': 'entity'}, 'bad_value: .*actuators'),
    ({'name': 'a', 'xml': ARM.replace('qpos="0.5"', 'qpos="nan"')}, 'import_failed: key_qpos'),
    ({'name': 'a', 'xml': ARM.replace('name="elbow" axis', 'name="el&#10;bow" axis')},
     'import_failed: name of <joint>'),
    ({'name': 'a', 'xml': LID.replace('name="grip"', f'name="{"g" * 300}"')},
     'import_failed: name of <joint>: .*256'),
    ({'name': 'a', 'xml': FINE_MESH}, 'import_failed: vertices of built-in meshes'),
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
    spawn(world, 'lid', LID, kind='entity')
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
    assert world.ask('replay_start')['total_frames'] == 5, 'frames are found by joint names'


FREE = '<mujoco><worldbody><body><freejoint/>{}</body></worldbody></mujoco>'
STIFF = """<mujoco><worldbody><body><joint stiffness="1" springref="{}"/><geom size="0.1"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize(
    'xml',
    [
        *(FREE.format(f'<geom size="0.1" mass="{mass}"/>') for mass in ('1e308', '-1', '1e-300')),
        *(FREE.format(f'<geom type="box" size="1 1 {side}"/>') for side in ('nan', '1e10')),
        *map(STIFF.format, ('inf', '1e308')),
    ],
)
def test_no_number_in_a_spawned_model_resets_the_running_world(shared_rig, xml):
    """Either it is refused, or the world with it can be stepped: time continues in both cases."""
    host = shared_rig.host
    shared_rig.ask('step', n_steps=5)
    time, epoch = host.simulation.world.data.time, host.simulation.engine.clock.epoch
    reply = shared_rig.reply('spawn_entity', name='odd', xml=xml, pos=[0, 0, 3])
    assert reply.get('code') in (None, 'import_failed')
    shared_rig.ask('step', n_steps=20)
    assert host.simulation.engine.clock.epoch == epoch
    assert host.simulation.world.data.time > time
    if 'code' not in reply:
        shared_rig.ask('delete_entity', entity='odd')


def test_things_can_be_deleted_from_a_world_that_is_unstable(rig):
    world = rig(mode='direct')
    spawn(world)
    world.ask('step')
    world.simulation.world.data.qvel[:] = 1e200
    delete(world, 'box')
