# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Plain HTTP on the port of a WebSocket: access to files, and slow downloads."""

import socket
import urllib.error
import urllib.request

import pytest
from raw_peer import dial
from raw_peer import opening
from raw_peer import status
from websockets.sync.client import connect

from test.gateways.serving.test_websocket_server import serving
from urlab_ros_bridge.gateways.chiral.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.serving import websocket_server
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.websocket_server import HttpAnswer

BIG = bytes(range(256)) * (1 << 15)


def answer_get(path):
    if path == '/broken':
        raise RuntimeError('files with a fault')
    body = BIG if path == '/big' else path.encode()
    return HttpAnswer(200, 'text/x-test', body, (('Cache-Control', 'no-store'),))


@pytest.fixture(scope='module')
def server():
    with serving(answer_get=answer_get) as running:
        yield running


def get(server, path, **headers):
    request = urllib.request.Request(f'http://127.0.0.1:{server.port}{path}', headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_a_file_comes_with_its_headers_and_without_the_query(server):
    status, headers, body = get(server, '/a/b.js?x=1')
    assert (status, body) == (200, b'/a/b.js')
    assert headers['Content-Type'] == 'text/x-test'
    assert headers['Cache-Control'] == 'no-store'
    assert get(server, '/big')[2] == BIG
    assert get(server, '/broken')[0] == 500


def test_pages_of_other_sites_get_nothing(server):
    assert get(server, '/a', Host='attacker.example')[0] == 403  # a name that points here
    assert get(server, '/a', Origin='http://attacker.example')[0] == 403
    assert get(server, '/a', Host='localhost:80', Origin='http://127.0.0.1:1')[0] == 200


def test_a_peer_that_does_not_read_its_file_delays_nobody(server, monkeypatch):
    hung = [dial(server.port) for _ in range(3)]
    for link in hung:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.sendall(b'GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    with connect(f'ws://127.0.0.1:{server.port}/') as client:
        for _ in range(50):
            client.send(b'ping')
            assert client.recv() == b'ping'
    assert get(server, '/a')[0] == 200
    monkeypatch.setattr(websocket_server, 'MAX_DOWNLOADS', 0)
    assert get(server, '/a')[0] == 503
    for link in hung:
        link.close()


def test_the_token_is_returned_as_a_cookie():
    with serving(Access(token='secret'), answer_get=answer_get) as running:
        assert get(running, '/a')[0] == get(running, '/a?token=wrong')[0] == 401
        _, headers, _ = get(running, '/a?token=secret')
        cookie, *attributes = headers['Set-Cookie'].split('; ')
        assert {'HttpOnly', 'SameSite=Strict'} <= set(attributes)
        assert 'secret' not in cookie
        assert get(running, '/b', Cookie=f'other=1; {cookie}')[2] == b'/b'
        assert get(running, '/b', Cookie=f'{cookie}x')[0] == 401


def test_no_log_contains_a_token(caplog):
    caplog.set_level('DEBUG')
    with serving(Access(token='s3cret'), answer_get=answer_get) as running:
        assert get(running, '/a?token=s3cret')[0] == 200
        status(running.port, opening('//[?token=s3cret'))
        with (
            pytest.raises(ChiralError),  # these sessions do not answer
            ChiralClient(running.url, token='s3cret', timeout=1.0) as client,
        ):
            client.metadata()
    assert 'GET /a' in caplog.text and 'is not a path' in caplog.text
    assert 's3cret' not in caplog.text
