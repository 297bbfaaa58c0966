# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The client over shared memory against the bundled server: its requests, and the fallback."""

import time

from bundled_server import client_of
from bundled_server import port_of
from bundled_server import start_server
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import NotInEditor
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import ShmUnavailable
from urlab_ros_bridge.client.errors import UnknownKeyframe
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import UnknownName


@pytest.fixture
def start(keep):
    return lambda **options: keep(start_server(cameras='off', **options))


@pytest.fixture
def connect(keep):
    return lambda server, transport='shm', **options: keep(
        client_of(server, transport=transport, **options)
    )


@pytest.fixture
def zmq_ops(monkeypatch):
    """Return the ops that went over ZMQ since the fixture was made."""
    from urlab_ros_bridge.transport.requester import Requester

    seen, exchange = [], Requester.exchange

    def noted(self, op, frame, timeout):
        seen.append(op)
        return exchange(self, op, frame, timeout)

    monkeypatch.setattr(Requester, 'exchange', noted)
    return seen


def test_only_handshake_editor_and_oversize_requests_go_over_zmq(start, connect, zmq_ops):
    client = connect(start(world='quadruped'))
    client.set_mode('direct')
    for number in range(1, 5):
        assert client.step(2, ctrl=[0.1] * 12, control_mode='raw').step == 2 * number
    client.reset()
    with pytest.raises(UnknownKeyframe):
        client.reset('nowhere')
    assert client.transport == 'shm'
    # Editor ops go over ZeroMQ; a slot holds four bytes less than a request may have.
    with pytest.raises(NotInEditor):
        client.request('current_level')
    fields = {'op': 'status', 'session_id': 36 * 'x', 'padding': b'x' * 70_000}
    missing = MAX_REQUEST_BYTES - len(pack(fields))
    client.request('status', padding=b'x' * (70_000 + missing))
    client.status()
    assert zmq_ops == ['hello', 'current_level', 'status']


def test_step_whose_reply_is_too_large_is_done_once(start, connect, zmq_ops, monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.sim.shared_memory.REPLY_STRIDE', 700)
    client = connect(start(world='quadruped'))
    client.set_mode('direct')
    steps = [client.step(3, observations='full').step for _ in range(4)]
    assert steps == [3, 6, 9, 12]
    # From the second time on it uses ZMQ at once; smaller replies do not.
    assert zmq_ops.count('step') == 4
    assert client.step(1, observations='minimal').step == 13
    assert zmq_ops.count('step') == 4


def test_auto_and_zmq_do_without(start, connect):
    with_shm, without = start(), start(shm=False)
    assert connect(with_shm, 'auto').transport == 'shm'
    assert connect(with_shm, 'zmq').transport == 'zmq'
    assert connect(without, 'auto').transport == 'zmq'
    with pytest.raises(ShmUnavailable):
        connect(without, 'shm')
    with pytest.raises(UnknownName, match='pigeon'):
        Client(transport='carrier pigeon')


def test_a_shared_client_reconnects_after_a_restart(start, connect):
    first = start()
    client = connect(first, shared=True)
    client.status()
    old, chosen = client.handshake.shm_session_dir, port_of(first)
    first.stop()
    second = start(rpc_port=chosen)
    time.sleep(0.6)
    assert client.status().world == 'rover'
    assert (client.generation, client.transport) == (2, 'shm')
    assert client.handshake.shm_session_dir == second.host.shm_dir != old


def test_the_shared_regions_of_a_stock_server_are_used_on_request_only(
    start, connect, monkeypatch
):
    """Other clients may use it at the same time; a reply that was late may be another's."""
    monkeypatch.setattr('urlab_ros_bridge.sim.streams.handshake.EXTENSIONS', ())
    server = start()
    monkeypatch.setattr(server.host.shm, 'open_channel', lambda: None)
    assert connect(server, 'auto').transport == 'zmq'
    client = connect(server)
    assert client.status().world == 'rover' and client.transport == 'shm'
    monkeypatch.setattr(client._rpc.shm, 'is_numbered', False)

    def miss(op, frame, timeout):
        raise RequestTimeout(op, client._rpc.shm.endpoint, timeout)

    monkeypatch.setattr(client._rpc.shm, 'exchange', miss)
    with pytest.raises(RequestTimeout):
        client.status()
    assert client.transport == 'zmq' and client.status().world == 'rover'
