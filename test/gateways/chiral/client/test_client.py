# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Our client: answers by type, timeouts that harm nothing, reconnecting, old observations."""

import asyncio
import contextlib
import socket
import threading
import time

import numpy as np
import pytest
from websockets.sync.server import serve

from urlab_ros_bridge.gateways.chiral.client.async_client import AsyncChiralClient
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.errors import ChiralTimeout
from urlab_ros_bridge.gateways.chiral.errors import NotChiral
from urlab_ros_bridge.gateways.chiral.errors import StaleObservation
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame


class Scripted:
    """A server whose answers a test chooses: a function of request type and number."""

    def __init__(self, answer, port):
        self.requests = []
        self._answer = answer
        self._server = serve(self._talk, '127.0.0.1', port, compression=None)
        self.port = self._server.socket.getsockname()[1]
        self.url = f'ws://127.0.0.1:{self.port}'
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def _talk(self, socket):
        for message in socket:
            header, payload = split_frame(message)
            self.requests.append((header, bytes(payload)))
            for frame in self._answer(header['type'], len(self.requests)):
                if isinstance(frame, float):
                    time.sleep(frame)
                elif isinstance(frame, int):
                    socket.close(frame, 'because')
                    return
                else:
                    socket.send(b''.join(frame))

    def stop(self):
        self._server.shutdown()
        self._thread.join()


@contextlib.contextmanager
def scripted(answer, port=0):
    server = Scripted(answer, port)
    try:
        yield server
    finally:
        server.stop()


def seen(stamp, kind='obs_response'):
    return codec.encode_observation(kind, Observation(stamp, [], {'n': np.ones(2, np.float32)}))


META = codec.encode_metadata({'number': 1})


def test_answers_are_matched_by_type():
    """What nobody asked for, and answers in another order of types, confuse nothing."""

    def answer(kind, count):
        if kind == 'metadata':
            return [seen(9.0, 'reset_response'), META]
        return [META, seen(1.0)]

    with scripted(answer) as server, ChiralClient(server.url) as client:
        assert client.metadata() == {'number': 1}
        assert client.observe().timestamp == 1.0
        assert client.latest.timestamp == 1.0
        assert client.dropped == 2


def test_a_late_answer_is_not_taken_for_the_next_one():
    def answer(kind, count):
        return [0.5, seen(1.0)] if count == 1 else [seen(float(count))]

    with scripted(answer) as server, ChiralClient(server.url, timeout=0.3) as client:
        with pytest.raises(ChiralTimeout, match='obs_request'):
            client.observe()
        time.sleep(0.3)
        assert client.observe().timestamp == 2.0
        assert client.observe().timestamp == 3.0
        assert client.dropped == 1


def test_requests_may_overlap():
    def answer(kind, count):
        return [seen(0.0, 'reset_response')] if kind == 'reset' else [seen(float(count))]

    async def many(url):
        async with AsyncChiralClient(url) as client:
            jobs = [client.observe(), client.reset(), client.observe(), client.reset()]
            return [result.timestamp for result in await asyncio.gather(*jobs)]

    with scripted(answer) as server:
        stamps = asyncio.run(many(server.url))
    assert stamps[1] == stamps[3] == 0.0
    assert 0.0 < stamps[0] < stamps[2]


def test_looking_again_after_the_connection_broke():
    def answer(kind, count):
        return [1001] if count == 1 else [seen(float(count))]

    with scripted(answer) as server, ChiralClient(server.url) as client:
        assert client.observe().timestamp == 2.0
    with (
        scripted(answer) as server,
        ChiralClient(server.url, reconnect=False) as client,
        pytest.raises(ChiralClosed, match='1001 because'),
    ):
        client.observe()


@pytest.mark.parametrize('code', [1007, 1008])
def test_what_the_server_objects_to_is_not_asked_again(code):
    """A policy whose actions are refused has to hear of it."""
    answers = {'apply_action': [code], 'obs_request': [seen(1.0)]}
    with (
        scripted(lambda kind, count: answers[kind]) as server,
        ChiralClient(server.url) as client,
    ):
        with pytest.raises(ChiralClosed, match=f'{code} because') as caught:
            client.step(np.zeros(3))
        assert caught.value.code == code
        assert client.observe().timestamp == 1.0  # who goes on after that is connected again


def test_a_reset_is_not_repeated_behind_the_callers_back():
    with scripted(lambda kind, count: [1001]) as server, ChiralClient(server.url) as client:
        with pytest.raises(ChiralClosed, match='because'):
            client.reset()
        assert len(server.requests) == 1


def test_a_server_that_comes_late_is_waited_for():
    with scripted(lambda kind, count: [META]) as server:
        port = server.port
    late = ChiralClient(f'ws://127.0.0.1:{port}', timeout=5)
    connecting = threading.Thread(target=late.connect)
    connecting.start()
    time.sleep(0.3)
    with scripted(lambda kind, count: [META], port) as server:
        connecting.join()
        assert late.metadata() == {'number': 1}
        late.close()
    with pytest.raises(ChiralTimeout, match='connect'):
        ChiralClient(f'ws://127.0.0.1:{port}', timeout=0.3).connect()


def test_a_driver_whose_connection_broke_gets_its_place_back(quadruped, gateway):
    """The gateway may not have seen yet that it has gone."""
    with (
        gateway(quadruped, {'pace': 'lockstep'}) as server,
        ChiralClient(server.url) as client,
    ):
        client.reset()
        for connection in server.connections:
            connection.close(1001, 'go')
        assert client.observe().timestamp > 0


def test_frames_that_never_change_are_noticed():
    with scripted(lambda kind, count: [seen(1.0)]) as server:
        with ChiralClient(server.url, stale_after=0.2) as client:
            client.observe()
            time.sleep(0.3)
            with pytest.raises(StaleObservation, match=r'allowed: 0\.2 s'):
                client.observe()
        with ChiralClient(server.url) as client:
            client.observe()
            time.sleep(0.3)
            client.observe()


def test_an_answer_that_cannot_be_read_ends_the_connection():
    with (
        scripted(lambda kind, count: [[b'\xff' * 9]]) as server,
        ChiralClient(server.url, reconnect=False) as client,
        pytest.raises(ValueError, match=r'header of .*; the server sent b.\\xff\\xff'),
    ):
        client.observe()


@contextlib.contextmanager
def answering(data, wait_for=b''):
    """Serve a socket that sends the same bytes to everybody, and then waits; count the callers."""
    with socket.create_server(('127.0.0.1', 0)) as listener, contextlib.ExitStack() as links:
        calls = []

        def run():
            with contextlib.suppress(OSError):
                while True:
                    link = links.enter_context(listener.accept()[0])
                    calls.append(link)
                    while wait_for and wait_for not in link.recv(4096):
                        pass
                    link.sendall(data)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f'ws://127.0.0.1:{listener.getsockname()[1]}', calls
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


WRONG_SERVERS = {
    'ZeroMQ': (b'\xff\0\0\0\0\0\0\0\1\x7f', r"sent no WebSocket handshake, b'\\xff"),
    'SSH': (b'SSH-2.0-OpenSSH_9.6\r\n', r"b'SSH-2.0-OpenSSH_9.6"),
    'noise': (bytes(range(256)) * 4, r"b'\\x00\\x01.*'\.\.\."),
    'half': (b'HTTP/1.1 101 Switching Protocols\r\n\r\n', "b'HTTP/1.1 101"),
}


@pytest.mark.parametrize('name', WRONG_SERVERS)
def test_a_wrong_port_is_said_at_the_first_attempt(name):
    """The message shows what was read; it has nothing to do with the time allowed."""
    data, says = WRONG_SERVERS[name]
    with answering(data, b'\r\n\r\n' if name == 'half' else b'') as (url, calls):
        with pytest.raises(NotChiral, match=f'{url} is not a Chiral server: .*{says}.*8765'):
            ChiralClient(url, timeout=100).connect()
        assert len(calls) == 1


def test_the_port_of_a_simulation_is_no_chiral_server(quadruped):
    with pytest.raises(NotChiral, match=r"b'\\xff"):
        ChiralClient(f'ws://127.0.0.1:{quadruped}', timeout=100).connect()


def test_a_web_server_is_shown():
    page = b'HTTP/1.1 404 Not Found\r\nContent-Length: 5000\r\n\r\n' + b'<html>' + b'x' * 4994
    with (
        answering(page, b'\r\n\r\n') as (url, _),
        pytest.raises(ChiralClosed, match=r'HTTP 404 <html>x{1,300}$'),
    ):
        ChiralClient(url, timeout=100).connect()


def test_a_websocket_of_another_kind_is_said():
    """Such as that of Foxglove, which has the same port and speaks first."""
    first = '{"op": "serverInfo", "name": "foxglove_bridge"}'

    def talk(link):
        link.send(first)
        for _ in link:
            link.send('{"op": "status"}')

    server = serve(talk, '127.0.0.1', 0, compression=None)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f'ws://127.0.0.1:{server.socket.getsockname()[1]}'
        with ChiralClient(url, timeout=100) as client:
            time.sleep(0.2)  # it has come before anything was asked
            for _ in range(2):
                with pytest.raises(NotChiral, match='serverInfo'):
                    client.metadata()
    finally:
        server.shutdown()
        thread.join()


def test_a_port_that_takes_and_drops_connections_is_tried_again():
    """As a forwarder does whose server is not up yet."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        calls = []

        def run():
            with contextlib.suppress(OSError):
                while True:
                    link, _ = listener.accept()
                    calls.append(link)
                    link.close()

        thread = threading.Thread(target=run)
        thread.start()
        url = f'ws://127.0.0.1:{listener.getsockname()[1]}'
        with pytest.raises(ChiralTimeout, match=r' 1 s; .*: \w+'):
            ChiralClient(url, timeout=1).connect()
        assert len(calls) > 1
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_against_the_gateway(quadruped, gateway):
    with (
        gateway(quadruped, {'pace': 'lockstep'}, token='a&b') as server,
        ChiralClient(server.url, token='a&b') as client,
    ):
        start = client.reset(seed=5)
        assert start.info['seed'] == 5
        after = client.step(start.proprios['joint_pos'])
        assert after.timestamp > start.timestamp
        with pytest.raises(ChiralClosed, match='HTTP 503 '):
            ChiralClient(server.url, token='a&b').connect()
        client.act(np.zeros(3))
        with pytest.raises(ChiralClosed, match=r'1008 action of shape \[3\]'):
            client.reset()
        assert client.metadata()['robot'] == 'quadruped'  # connected again


def test_a_closed_client_says_so():
    with pytest.raises(RuntimeError, match='connect'):
        ChiralClient().metadata()
