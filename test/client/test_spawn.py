# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What clients notice when one of them spawns or deletes something."""

from concurrent.futures import ThreadPoolExecutor
import itertools

from bundled_server import client_of
from bundled_server import running_server
import pytest

from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.state.stream import StateStream

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
    moved = client.set_entity_state('box', pos=(2, 2, 2), linear=(0, 0, 1))
    assert moved.pos.tolist() == [2, 2, 2] and moved.linear.tolist() == [0, 0, 1]
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
    status = other.status()
    assert status.mode == 'direct' and len(status.sessions) >= 3
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


def test_the_stream_continues_in_order(clients):
    client = clients(shared=True)
    stream = StateStream(state_port=client.state_port)
    client.set_mode('live')
    client.set_paused(False)
    ticks = [stream.receive(5.0)]
    client.spawn_entity('box', xml=BOX, pos=(1, 1, 1))
    client.delete_entity('box')
    after = client.status().sim_time_ns
    while ticks[-1].stamp_ns <= after:
        ticks.append(stream.receive(5.0))
    stream.close()
    for old, new in itertools.pairwise(ticks):
        assert new.stamp_ns >= old.stamp_ns and new.step >= old.step
    assert not client.status().paused and client.status().mode == 'live'
