# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Why a handshake ends: keys are wanted, or nobody is behind the port."""

from contextlib import contextmanager
import socket
import threading

from hypothesis import given
from hypothesis import strategies as st
import pytest
import zmq

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import KeysRejected
from urlab_ros_bridge.client.transports.greeting import mechanism_at
from urlab_ros_bridge.client.transports.zmq_rpc import RpcSocket
from urlab_ros_bridge.transport.keys import make_keys
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.keys import read_server_keys

PATIENCE = 60.0
GREETING = b'\xff' + bytes(8) + b'\x7f\x03\x00' + b'NULL'.ljust(20, b'\0') + bytes(32)


@contextmanager
def saying(answer):
    """Run a TCP server that sends the same to everybody and hangs up; yield its endpoint."""
    listener = socket.create_server(('127.0.0.1', 0))

    def serve():
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            with link:
                link.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f'tcp://127.0.0.1:{listener.getsockname()[1]}'
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@contextmanager
def router(keys=None):
    """Bind a socket as the server does; yield its endpoint."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as link:
        link.linger = 0
        if keys is not None:
            keys.protect(link)
        yield f'tcp://127.0.0.1:{link.bind_to_random_port("tcp://127.0.0.1")}'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp('keys') / 'own'
    make_keys(made)
    return made


def refused(endpoint, keys=None):
    """Return what a request ends with."""
    link = RpcSocket(endpoint, keys)
    try:
        with pytest.raises(ConnectionLost) as caught:
            link.exchange('meta', b'x', PATIENCE)
        return caught.value
    finally:
        link.close()


def test_the_greeting_names_the_mechanism(folder):
    with router() as endpoint:
        assert mechanism_at(endpoint, PATIENCE) == 'NULL'
    with router(read_server_keys(folder)) as endpoint:
        assert mechanism_at(endpoint, PATIENCE) == 'CURVE'
    assert mechanism_at(endpoint, PATIENCE) is None  # nobody listens there any more
    assert mechanism_at('ipc:///tmp/x') is mechanism_at('tcp://127.0.0.1') is None


def test_a_forwarded_port_with_nobody_behind_it_asks_for_no_keys():
    with saying(b'') as endpoint:
        assert type(refused(endpoint)) is ConnectionLost


def test_a_server_with_keys_says_so_and_one_without_too(folder):
    with router(read_server_keys(folder)) as endpoint:
        error = refused(endpoint)
        assert type(error) is KeysRejected and '--keys DIR' in str(error)
    with router() as endpoint:
        error = refused(endpoint, read_client_keys(folder))
        assert type(error) is KeysRejected and 'does not use keys' in str(error)


@given(st.binary(max_size=80) | st.binary(max_size=70).map(lambda more: (GREETING + more)[:80]))
def test_any_answer_is_read(answer):
    with saying(answer) as endpoint:
        assert isinstance(mechanism_at(endpoint, PATIENCE), (str, type(None)))
