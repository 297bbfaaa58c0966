# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`--dialect 0.6`: clients of plugin v0.6 find its names; our own clients see no difference."""

import socket

from bundled_server import port_of
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import StateStream


@pytest.fixture
def newer(rig):
    made = rig(dialect='0.6')
    made.hello_reply = made.hello(shared=True)
    return made


def test_a_handshake_lists_robots_and_other_bodies_together(newer):
    reply = newer.hello_reply
    assert 'articulations' not in reply and reply['instance'] == {'host': socket.gethostname()}
    blocks = {block['prefix']: block for block in reply['entities']}
    assert blocks['rover']['actuator_types'] and blocks['rover']['actor_name'] == 'rover'
    assert blocks['pallet']['has_free_base'] and 'actuator_types' not in blocks['pallet']


@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
def test_modes_and_states_have_the_new_names(newer, encoding):
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


def test_our_own_client_sees_the_page(server):
    """Over real sockets, packed replies and the stream included."""
    running = server(dialect='0.6', cameras='off')
    with (
        Client(rpc_port=port_of(running), shared=True) as client,
        StateStream(state_port=port_of(running, 'state'), topics=['state/full']) as stream,
    ):
        assert set(client.handshake.articulations) == {'rover'}
        assert client.handshake.entities['pallet'].has_free_base
        assert client.set_mode('direct').current == 'direct' == client.status().mode
        for _ in range(3):
            result = client.step(2, ctrl={'rover': [1.0, 1.0]})
        assert result.articulations['rover'].ctrl.tolist() == [1.0, 1.0]
        assert len(result.entities['pallet'].xpos) == 3
        tick = stream.receive(10.0)
        assert tick.state().articulations['rover'].twist is not None
