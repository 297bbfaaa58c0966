# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What clients notice when one of them spawns or deletes something."""

from concurrent.futures import ThreadPoolExecutor

from bundled_server import client_of
from bundled_server import running_server
import pytest

from urlab_ros_bridge.client.errors import BadValue
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import UnknownBody

BOX = """<mujoco><worldbody><body><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
  <body name="lid" pos="0 0 0.1"><geom size="0.05"/></body></body></worldbody></mujoco>"""


@pytest.fixture(scope='module')
def server():
    """Return a running server."""
    with running_server(paused=True) as made:
        yield made


@pytest.fixture
def clients(server, keep):
    """Return a factory of connected clients of a paused world without spawned entities."""

    def connect(**options):
        return keep(client_of(server, **options))

    keeper = connect(shared=True)
    keeper.set_paused(True)
    yield connect
    for name, state in keeper.get_entities().items():
        if state.spawned:
            keeper.delete_entity(name)


@pytest.mark.parametrize('transport', ['zmq', 'shm'])
def test_the_caller_has_the_new_handshake_at_once(clients, transport):
    client = clients(shared=True, transport=transport)
    box = client.spawn_entity('box', xml=BOX, pos=(1, 1, 1))
    assert (box.name, box.kind, box.spawned, box.movable) == ('box', 'entity', True, True)
    assert 'box' in client.handshake.entities and client.generation == 2
    assert client.handshake.model.body('box').id == client.handshake.entities['box'].id
    assert client.status().world_revision == client.handshake.raw['world_revision']
    client.delete_entity('box')
    assert 'box' not in client.handshake.entities and client.transport == transport
    assert client.step().entities.keys() == client.handshake.entities.keys()


def test_every_other_session_expires_and_shared_ones_reconnect(clients):
    caller, other, plain = clients(shared=True), clients(shared=True), clients()
    plain.set_mode('direct')
    run = caller.handshake.raw['run']
    caller.spawn_entity('box', xml=BOX)
    with pytest.raises(SessionExpired, match='hello'):
        plain.step()
    assert 'box' in plain.connect().entities and plain.step(3).raw['step'] == 3
    assert 'box' in other.step().entities and other.generation == 2
    assert other.status().mode == 'direct'
    assert {client.handshake.raw['run'] for client in (caller, other, plain)} == {run}


def test_a_step_that_waits_is_done_in_the_new_world(clients):
    caller, waiting = clients(shared=True), clients(shared=True, timeout=8.0)
    caller.set_mode('direct')
    caller.set_paused(True)
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(waiting.step, 5)
        caller.spawn_entity('box', xml=BOX)
        caller.set_paused(False)
        assert 'box' in step.result(8.0).entities


def test_states_are_read_and_written(clients):
    client = clients(shared=True)
    everything = client.get_entities()
    assert everything['rover'].kind == 'articulation' and everything['pallet'].movable
    assert client.get_entities([]) == {}
    moved = client.set_entity_state('pallet', pos=(1, 2, 3), angular=(0, 0, 2))
    assert moved.pos.tolist() == [1, 2, 3] and moved.angular.tolist() == [0, 0, 2]
    assert moved.quat.tolist() == everything['pallet'].quat.tolist() and moved.bounds is None
    (read,) = client.get_entities(['pallet'], bounds=True).values()
    assert read.pos.tolist() == [1, 2, 3] and read.sim_time_ns == moved.sim_time_ns
    assert read.bounds.shape == (2, 3) and (read.bounds[0] < read.bounds[1]).all()
    with pytest.raises(UnknownBody, match='pallet'):
        client.get_entities(['palet'])
    with pytest.raises(BadValue, match='cannot be moved'):
        client.set_entity_state('shelf', pos=(0, 0, 0))
