# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server with keys: clients with a key have full access, others none."""

import time

import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program
from waiting import wait_until
import zmq

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import open_camera
from urlab_ros_bridge.client import open_state
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.errors import KeysRejected
from urlab_ros_bridge.transport.keys import make_keys
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.wire.control import CONTROL
from urlab_ros_bridge.wire.control import control_topic
from urlab_ros_bridge.wire.control import pack_setpoints
from urlab_ros_bridge.wire.encoding import codec

PATIENCE = 60.0
DEAF = 0.5  # s that nothing comes to somebody who is not let in


@pytest.fixture(scope='module')
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp('keys') / 'own'
    make_keys(folder, ['laptop'])
    return folder


@pytest.fixture(scope='module')
def line(keys):
    words = ('server', '--world=bimanual', f'--keys={keys}', '--no-shm', *ANY_PORTS)
    with program(*words) as (_, text):
        yield text


def others_keys(folder, keys, known):
    """Return keys of somebody else, with one file of ours."""
    make_keys(folder)
    (folder / known).write_bytes((keys / known).read_bytes())
    return folder


@pytest.fixture(scope='module')
def stranger(keys, tmp_path_factory):
    """Return keys that know the server, but which the server does not know."""
    return others_keys(tmp_path_factory.mktemp('stranger'), keys, 'server.key')


@pytest.fixture(scope='module')
def impostor(keys, tmp_path_factory):
    """Return keys that the server knows, of somebody who trusts another server."""
    return others_keys(tmp_path_factory.mktemp('impostor'), keys, 'client.key_secret')


@pytest.mark.parametrize('name', ['', 'laptop'])
def test_a_client_with_a_key_has_full_access(line, keys, name):
    with Client(rpc_port=port_of(line), shared=True, keys=keys / name, timeout=PATIENCE) as client:
        client.set_paused(False)
        with open_state('', state_port=port_of(line, 'state'), keys=client.keys) as state:
            assert state.receive(PATIENCE).state() is not None
        (robot,) = client.handshake.articulations.values()
        camera = next(iter(robot.cameras.values()))
        with open_camera(camera, keys=client.keys, transport='zmq') as images:
            assert images.receive(PATIENCE).pixels.any()


def test_a_client_without_a_known_key_is_told_so_and_gets_no_answer(line, stranger, impostor):
    for keys in ('', stranger):
        client = Client(rpc_port=port_of(line), shared=True, timeout=PATIENCE, keys=keys)
        with pytest.raises(KeysRejected):
            client.connect()
        client.close()
    for folder in ('', stranger, impostor):
        with zmq.Context() as context, context.socket(zmq.REQ) as link:
            link.linger = 0
            if folder:
                read_client_keys(folder).protect(link)
            link.connect(f'tcp://127.0.0.1:{port_of(line)}')
            link.send(codec.pack({'op': 'meta'}))
            assert not link.poll(int(DEAF * 1000))


@pytest.mark.parametrize('stream', ['state', 'info'])
def test_streams_send_nothing_without_a_known_key(line, stranger, stream):
    for folder in ('', stranger):
        port = port_of(line, stream)
        with StateStream(state_port=port, keys=folder, closing='sim_time') as rows:
            assert rows.receive(DEAF) is None and rows.stats.rows == 0


def test_the_control_stream_ignores_unknown_keys(line, keys, stranger):
    with Client(rpc_port=port_of(line), shared=True, keys=keys, timeout=PATIENCE) as client:
        before = client.status().raw['control_stream']
        for own in (None, read_client_keys(stranger)):
            send_controls(port_of(line, 'control'), own, DEAF)
        assert client.status().raw['control_stream'] == before

        def is_taken():
            send_controls(port_of(line, 'control'), client.keys, 0.3)
            return client.status().raw['control_stream'] != before

        wait_until(is_taken)


def send_controls(port, keys, seconds):
    with zmq.Context() as context, context.socket(zmq.PUB) as link:
        link.linger = 0
        if keys:
            keys.protect(link)
        link.connect(f'tcp://127.0.0.1:{port}')
        time.sleep(seconds)
        link.send_multipart([control_topic(CONTROL, 'bimanual'), pack_setpoints([0], [0.0])])
        time.sleep(0.1)
