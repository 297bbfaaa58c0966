# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What spawning and deleting does to a world, and what it leaves alone."""

import mujoco
import numpy as np
import pytest
from spawn_models import ARM
from spawn_models import BOX
from spawn_models import delete
from spawn_models import POST
from spawn_models import renewed
from spawn_models import spawn

from urlab_ros_bridge.sim.model.client_models.files import BUNDLED


@pytest.fixture
def driven(rig):
    """Return a factory of rover worlds that move, with a twist, a wrench and changed options."""

    def make(world='rover', **config):
        made = rig(mode='direct', world=world, **config)
        prefix = next(iter(made.simulation.world.articulations))
        made.ask('randomize', seed=3, items={'mass': {'scale': [0.8, 1.2]}})
        made.ask('set_sim_options', options={'gravity': [0.0, 0.1, -9.7]})
        made.ask('step', n_steps=40, per_articulation={prefix: {'ctrl': [3.0, 2.0]}})
        if made.engine.controls[prefix].twist is not None:
            made.ask('set_twist', articulation=prefix, linear=[0.4, 0, 0], angular=[0, 0, 0.5])
        base = made.simulation.world.articulations[prefix].first_body.name
        made.ask(
            'apply_wrench', articulation=prefix, body=base, force=[0, 5, 0], duration=0.2,
            frame='body',
        )  # fmt: skip
        made.ask('step', n_steps=15)
        return made

    return make


def integrated(rig):
    """Return everything that MuJoCo integrates from."""
    kind = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(mujoco.mj_stateSize(rig.model, kind))
    mujoco.mj_getState(rig.model, rig.data, state, kind)
    return state


def derive(rig):
    """Recompute poses: those of a changed world are current, those of a step one step old."""
    warm = rig.data.qacc_warmstart.copy()
    mujoco.mj_forward(rig.model, rig.data)
    rig.data.qacc_warmstart[:] = warm


@pytest.mark.parametrize(
    ('world', 'name', 'xml'),
    [('rover', 'arm', ARM), ('quadruped', 'box', BOX), ('fleet', 'post', POST)],
)
def test_spawning_and_deleting_leaves_no_trace(driven, world, name, xml):
    changed, twin = driven(world), driven(world)
    spawn(changed, name, xml, pos=[5, 5, 5])
    delete(changed, name)
    assert np.array_equal(integrated(changed), integrated(twin))
    derive(twin)
    for steps in (1, 50, 200):
        ours, theirs = (rig.ask('step', n_steps=steps) for rig in (changed, twin))
        assert ours['per_articulation'] == theirs['per_articulation']
        assert ours['entities'] == theirs['entities'] and ours['step'] == theirs['step']
        assert np.array_equal(integrated(changed), integrated(twin))
    for rig in (changed, twin):
        rig.ask('randomize', restore=True)
    assert np.array_equal(changed.model.body_mass, twin.model.body_mass)
    assert changed.ask('list_keyframes')['keyframes'] == twin.ask('list_keyframes')['keyframes']


DELAYED = """<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body>
  </worldbody><actuator><motor name="m" joint="j" delay="0.01" nsample="8"/></actuator>
  <sensor><jointpos name="s" joint="j" delay="0.02" nsample="16"/></sensor></mujoco>"""


def test_the_history_of_delayed_actuators_and_sensors_survives_spawning(rig, mjcf):
    changed, twin = (rig(mode='direct', model=mjcf(DELAYED, 'delayed')) for _ in range(2))
    for each in (changed, twin):
        for ctrl in (1.0, -2.0, 3.0):
            each.ask('step', n_steps=2, per_articulation={'delayed': {'ctrl': [ctrl]}})
    assert twin.data.history.any()
    spawn(changed, 'arm', ARM, pos=[5, 5, 5])
    for _ in range(20):
        replies = [each.ask('step')['per_articulation']['delayed'] for each in (changed, twin)]
        assert replies[0] == replies[1]
    assert replies[0]['sensors']['s'] != [0.0]


def test_a_taken_name_is_changed_if_renaming_is_allowed(rig):
    world = rig()
    wanted = ['box', 'box', 'box_1', 'rover', '7 up', '']
    got = [spawn(world, name, BOX, allow_renaming=True)['name'] for name in wanted]
    assert got[:4] == ['box', 'box2', 'box_1', 'rover2'] and len(set(got)) == len(got)
    assert set(got) <= set(world.simulation.world.entities)
    delete(world, 'box')
    assert {'box2', 'box_1'} <= set(world.simulation.world.entities)


def test_robots_of_the_world_file_can_be_deleted_too(rig):
    world = rig(world='fleet')
    delete(world, 'rover_1')
    keys = [key['name'] for key in world.ask('list_keyframes')['keyframes']]
    assert keys and not any(key.startswith('rover_1') for key in keys)
    world.ask('reset', keyframe_name=keys[0])
    assert world.ask('step', n_steps=10)['per_articulation'].keys() == {'rover_2', 'quadruped'}
    spawn(world, 'rover_1', ARM)
    assert world.code('delete_entity', entity='nobody') == 'unknown_body'


def test_a_reset_returns_spawned_entities_to_where_they_were_spawned(rig):
    world = rig(mode='direct')
    spawn(world, 'box', pos=[1, 1, 2])
    for keyframe in ({}, {'keyframe_name': 'home'}):
        fallen = world.ask('step', n_steps=100)['entities']['box']['qpos'][2]
        assert fallen < 1.9
        assert world.ask('reset', **keyframe)['entities']['box']['qpos'][:3] == [1, 1, 2]


def test_all_bundled_robots_can_be_spawned_together(rig):
    world = rig()
    for file in sorted(BUNDLED.glob('*_robot.xml')):
        name = file.stem.replace('_', '')
        reply = world.ask('spawn_entity', name=name, file=file.name, pos=[10, len(name), 1])
        renewed(world)
        assert reply['kind'] == 'articulation'
    world.ask('set_mode', mode='direct')
    assert len(world.ask('step', n_steps=20)['per_articulation']) >= 4
