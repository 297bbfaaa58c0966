# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`--dialect 0.6`: clients of plugin v0.6 find its names."""

import socket

import pytest


@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
def test_modes_and_states_have_the_new_names(rig, encoding):
    newer = rig(dialect='0.6')
    reply = newer.ask('hello', shared=True)
    assert 'articulations' not in reply and reply['instance'] == {'host': socket.gethostname()}
    blocks = {block['prefix']: block for block in reply['entities']}
    assert blocks['rover']['actuator_types'] and blocks['rover']['actor_name'] == 'rover'
    assert blocks['pallet']['has_free_base'] and blocks['pallet']['actuator_types'] == {}
    caller = newer.caller(shared=True, encoding=encoding)
    assert caller.ask('set_mode', mode='stepped')['current_mode'] == 'stepped'
    # The names of the page are understood too; replies have the new ones.
    assert caller.ask('set_mode', mode='direct') == {
        'op': 'set_mode_ok', 'previous_mode': 'stepped', 'current_mode': 'stepped',
    }  # fmt: skip
    command = {'rover': {'ctrl': [1.0, 1.0]}}
    for op, fields in (
        ('step', {'n_steps': 3, 'per_articulation': command}),
        ('forward', {}),
        ('reset', {}),
    ):
        reply = caller.ask(op, **fields)
        assert {'rover', 'pallet'} <= reply['arts'].keys(), op
        assert len(reply['arts']['pallet']['qpos']) == 7 and ('scene' in reply) == (op == 'step')
        assert not {'per_articulation', 'entities'} & reply.keys()
    qpos, qvel = newer.data.qpos.tolist(), newer.data.qvel.tolist()
    assert caller.ask('set_mode', mode='statepushed')['previous_mode'] == 'stepped'
    pushed = caller.ask('step', mode='statepushed', time=3.0, qpos=qpos, qvel=qvel)
    assert pushed['time'] == 3.0
    assert caller.code('set_mode', mode='odd') == 'bad_mode'


def test_every_entity_is_a_block_of_requests(rig):
    newer = rig(dialect='0.6', mode='direct')
    other = newer.caller(shared=True)
    blocks = {name: {'ctrl': []} for name in ('rover', *newer.simulation.world.entities)}
    newer.ask('step', per_articulation=blocks)
    newer.ask('step', per_articulation={name: {} for name in blocks})
    assert newer.ask('claim_control', articulation='pallet')['articulation'] == 'pallet'
    push = {'pallet': {'xfrc_applied': {'pallet': [0, 0, 5000, 0, 0, 0]}}}
    assert other.code('step', per_articulation=push) == 'not_control_owner'
    height = newer.data.body('pallet').xpos[2]
    newer.ask('step', per_articulation=push, n_steps=50)
    assert newer.data.body('pallet').xpos[2] > height + 0.01
    place = [3.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0]
    assert other.code('set_qpos', target='pallet', qpos=place) == 'not_control_owner'
    assert newer.ask('set_qpos', target='pallet', qpos=place)['free_base_shortcut']
    assert newer.ask('forward')['arts']['pallet']['qpos'][:3] == place[:3]
    newer.ask('release_control', articulation='pallet')
    assert newer.code('step', per_articulation={'ghost': {}}) == 'unknown_articulation'


def test_in_the_dialect_of_the_page_only_robots_are_blocks(rig):
    page = rig(mode='direct')
    for op, fields in (
        ('step', {'per_articulation': {'pallet': {}}}),
        ('claim_control', {'articulation': 'pallet'}),
        ('set_qpos', {'target': 'pallet', 'qpos': [0.0] * 7}),
    ):
        assert page.code(op, **fields) == 'unknown_articulation'
