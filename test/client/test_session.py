# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The request path over real sockets: errors, timeouts, late replies, restarts, threads."""

import threading
import time

from fake_server import error
from fake_server import FakeServer
from fake_server import step_ok
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import UnknownKeyframe
from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.client.errors import UnsendableValue


def paused_ok(request):
    return {'op': 'set_paused_ok', 'paused': request['paused']}


@pytest.mark.parametrize('router', [False, True], ids=['rep', 'router'])
@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
def test_requests_work_with_both_kinds_of_server(router, encoding):
    with (
        FakeServer(
            {'step': lambda _: step_ok(), 'set_paused': paused_ok}, router=router, as_floats=True
        ) as server,
        Client(rpc_port=server.port, encoding=encoding) as client,
    ):
        assert client.handshake.mjb == b'\0mjb'
        assert client.step().articulations['rover'].actions == 3
        assert client.set_paused(True) is True
        assert server.requests[-1]['session_id'] == client.handshake.session_id


def test_an_error_reply_raises_the_class_of_its_code():
    ops = {
        'reset': lambda request: error('unknown_keyframe', request['keyframe_name']),
        'forward': lambda _: {'op': 'error', 'code': 'odd_code'},
    }
    with FakeServer(ops) as server, Client(rpc_port=server.port) as client:
        with pytest.raises(UnknownKeyframe, match='hom') as caught:
            client.reset('hom')
        assert caught.value.op == 'reset'
        with pytest.raises(RemoteError, match='odd_code'):
            client.forward()


def test_a_timeout_is_kept_and_the_client_works_on():
    with (
        FakeServer({'step': lambda _: None, 'set_paused': paused_ok}, router=True) as server,
        Client(rpc_port=server.port) as client,
    ):
        for timeout in (0.03, 0.25):
            begin = time.monotonic()
            with pytest.raises(RequestTimeout, match=r'step: .*tcp://127.0.0.1'):
                client.step(timeout=timeout)
            assert timeout <= time.monotonic() - begin < timeout + 4
            assert client.set_paused(False) is False


def test_a_shared_session_survives_a_server_restart():
    seen = []
    ops = {'set_paused': paused_ok}
    with FakeServer(ops) as server:
        client = Client(rpc_port=server.port, shared=True, on_hello=seen.append)
        first = client.connect()
    # A request that is sent before the end of the old connection is known is lost with it.
    time.sleep(0.5)
    with FakeServer(ops, port=server.port, robots=('quad',)) as server:
        assert client.set_paused(True)
        assert client.generation == 2 and seen == [first, client.handshake]
        assert list(client.handshake.articulations) == ['quad']
        # The refused request, hello, the repeated request.
        assert [request['op'] for request in server.requests] == [
            'set_paused',
            'hello',
            'set_paused',
        ]
        client.set_paused(False)
        assert client.generation == 2
    client.close()


def test_a_server_that_always_refuses_is_not_asked_for_ever():
    with (
        FakeServer({'set_paused': lambda _: error('session_expired')}) as server,
        Client(rpc_port=server.port, shared=True) as client,
    ):
        with pytest.raises(SessionExpired):
            client.set_paused(True)
        assert server.count('hello') == 2 and server.count('set_paused') == 2


@pytest.mark.parametrize('kind', ['plain client', 'stock server'])
def test_a_session_that_somebody_else_took_is_not_taken_back(kind):
    with FakeServer({'set_paused': paused_ok}, shared=kind != 'stock server') as server:
        client = Client(rpc_port=server.port, shared=kind == 'stock server')
        client.connect()
        server.sessions.clear()
        with pytest.raises(SessionExpired):
            client.set_paused(True)
        assert server.count('hello') == 1
        client.close()


def test_close_ends_a_request_of_another_thread():
    caught = []
    with FakeServer({'step': lambda _: None}, router=True) as server:
        client = Client(rpc_port=server.port)
        client.connect()

        def wait():
            try:
                client.step(timeout=60)
            except NotConnected as error:
                caught.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
        client.close()
        thread.join(20)
        assert not thread.is_alive() and len(caught) == 1
        client.connect()  # a closed client may be opened again
        client.close()


def test_values_that_cannot_travel_are_named():
    with FakeServer() as server, Client(rpc_port=server.port) as client:
        for value in (object(), {1, 2}, 2**70):
            with pytest.raises(UnsendableValue, match='pie_status'):
                client.request('pie_status', value=value)
    with (
        FakeServer() as server,
        Client(rpc_port=server.port, encoding='json') as client,
        pytest.raises(UnsendableValue),
    ):
        client.request('pie_status', value=object())


def test_a_handshake_that_cannot_be_read_names_the_server_and_the_field():
    odd = {'op': 'hello_ok', 'session_id': 's', 'urlab_version': 'urlab/9.1', 'entities': 7}
    with FakeServer({'hello': lambda _: odd}) as server:
        with pytest.raises(UnreadableHandshake, match=f'{server.port}.*urlab/9.1.*entities'):
            Client(rpc_port=server.port).connect()
        assert server.count('hello') == 1
