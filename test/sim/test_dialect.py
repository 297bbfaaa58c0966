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
    assert blocks['pallet']['has_free_base'] and 'actuator_types' not in blocks['pallet']
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
        assert 'rover' in reply['arts'] and 'pallet' in reply['scene'], op
        assert not {'per_articulation', 'entities'} & reply.keys()
    qpos, qvel = newer.data.qpos.tolist(), newer.data.qvel.tolist()
    assert caller.ask('set_mode', mode='statepushed')['previous_mode'] == 'stepped'
    pushed = caller.ask('step', mode='statepushed', time=3.0, qpos=qpos, qvel=qvel)
    assert pushed['time'] == 3.0
    assert caller.code('set_mode', mode='odd') == 'bad_mode'
