# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The request path over real sockets: errors, timeouts, late replies, restarts, threads."""

from concurrent.futures import ThreadPoolExecutor
import contextlib
import time

import pytest
from stock_replies import floats
from stock_replies import step_ok

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import UnknownKeyframe
from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.client.errors import UnsendableValue
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import FrameTooLarge


@contextlib.contextmanager
def served(*robots, client=None, **options):
    """Yield a server, and a client of it that is made with these options."""
    with (
        FakeServer(*robots or ('rover',), **options) as server,
        Client(rpc_port=server.ports['rpc'], **(client or {})) as connected,
    ):
        yield server, connected


@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
def test_requests_carry_the_session_in_both_encodings(encoding):
    with served(client={'encoding': encoding}) as (server, client):
        server.answer('step', floats(step_ok()))
        assert client.step().articulations['rover'].actions == 3
        assert client.set_paused(True) is True
        assert server.requests[-1]['session_id'] == client.handshake.session_id


def test_an_error_reply_raises_the_class_of_its_code():
    with served() as (server, client):
        server.answer('forward', {'op': 'error', 'code': 'odd_code'})
        with pytest.raises(UnknownKeyframe, match='hom') as caught:
            client.reset('hom')
        assert caught.value.op == 'reset'
        with pytest.raises(RemoteError, match='odd_code'):
            client.forward()


def test_after_a_timeout_the_client_works():
    with served() as (server, client):
        server.answer('step', None)
        begin = time.monotonic()
        with pytest.raises(RequestTimeout, match=r'step: .*tcp://127.0.0.1'):
            client.step(timeout=0.25)
        assert 0.25 <= time.monotonic() - begin < 4
        assert client.set_paused(False) is False


def test_requests_to_a_server_that_always_refuses_are_not_repeated_forever():
    seen = []
    with served(client={'shared': True, 'on_hello': seen.append}) as (server, client):
        server.refuse('set_paused', 'session_expired', times=100)
        with pytest.raises(SessionExpired):
            client.set_paused(True)
        assert len(server.requests_of('hello')) == len(server.requests_of('set_paused')) == 2
        assert len(seen) == client.generation == 2


@pytest.mark.parametrize(
    ('extensions', 'shared'), [(FakeServer.EXTENSIONS, False), ((), True)], ids=['plain', 'stock']
)
def test_a_session_that_another_client_has_replaced_is_not_taken_back(extensions, shared):
    with (
        served(extensions=extensions, client={'shared': shared}) as (server, client),
        Client(rpc_port=server.ports['rpc']),
        pytest.raises(SessionExpired),
    ):
        client.set_paused(True)


def test_close_ends_a_request_of_another_thread():
    with served() as (server, client), ThreadPoolExecutor(1) as pool:
        server.answer('step', None)
        waiting = pool.submit(client.step, timeout=60)
        time.sleep(0.1)
        client.close()
        with pytest.raises(NotConnected):
            waiting.result(20)
        server.answer('step', step_ok())
        for use in (client.step, lambda: client.handshake):
            with pytest.raises(NotConnected):
                use()
        client.connect()  # a closed client may be opened again
        client.step()


def test_a_reply_to_another_op_and_an_oversize_request_are_errors_of_their_own():
    with served() as (server, client):
        server.answer('step', {'op': 'reset_ok'})
        with pytest.raises(ProtocolError, match='reset_ok'):
            client.step()
        with pytest.raises(FrameTooLarge):
            client.request('step', padding=bytes(MAX_REQUEST_BYTES))
        assert client.set_paused(False) is False


@pytest.mark.parametrize(
    ('encoding', 'value'), [('msgpack', object()), ('msgpack', 2**70), ('json', object())]
)
def test_unsendable_values_are_named(encoding, value):
    with (
        served(client={'encoding': encoding}) as (_, client),
        pytest.raises(UnsendableValue, match='pie_status'),
    ):
        client.request('pie_status', value=value)


def test_a_handshake_that_cannot_be_read_names_the_server_and_the_field():
    odd = {'op': 'hello_ok', 'session_id': 's', 'urlab_version': 'urlab/9.1', 'entities': 7}
    with FakeServer() as server:
        server.answer('hello', odd)
        port = server.ports['rpc']
        with pytest.raises(UnreadableHandshake, match=f'{port}.*urlab/9.1.*entities'):
            Client(rpc_port=port).connect()
        assert len(server.requests_of('hello')) == 1


STEP = b'\x82\xa2op\xa7step_ok\xa1a'


HOSTILE = {
    'nested': STEP + b'\x91' * 1_000_000,
    'promised': STEP + b'\xdf\xff\xff\xff\xff',
    'json digits': b'{"op":"step_ok","a":' + b'9' * 1_000_000 + b'}',
}


@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_reply_is_a_protocol_error_and_the_client_continues(name):
    replies = [HOSTILE[name]]
    with served() as (server, client):
        server.answer('step', lambda _: replies.pop() if replies else step_ok())
        with pytest.raises(ProtocolError, match=r'^step: '):
            client.step()
        assert client.step().articulations['rover'].actions == 3
