# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""https and wss with a generated certificate, beside peers without TLS."""

import json
import socket
import ssl
import urllib.request

import pytest
from websockets.sync.client import connect

from test.gateways.running import field_at
from urlab_ros_bridge.gateways.serving.websocket_server import HttpAnswer
from urlab_ros_bridge.gateways.virtual_field.serving.certificate import BadCertificate
from urlab_ros_bridge.gateways.virtual_field.serving.certificate import own_addresses
from urlab_ros_bridge.gateways.virtual_field.serving.certificate import own_certificate
from urlab_ros_bridge.gateways.virtual_field.serving.certificate import tls_context

HELLO = json.dumps({'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}})
BIG = bytes(range(256)) * (1 << 12)


class Files:
    def respond(self, path, bodies):
        return HttpAnswer(200, 'text/plain', BIG)


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    return own_certificate(tmp_path_factory.mktemp('tls'), own_addresses())


@pytest.fixture(scope='module')
def secured(bimanual, pair):
    """Return a gateway with TLS, and what a client needs to trust it."""
    trust = ssl.create_default_context(cafile=str(pair[0]))
    with field_at(bimanual, Files(), tls=tls_context(*map(str, pair))) as gateway:
        yield gateway, trust


def test_the_pair_is_kept_while_it_holds(tmp_path):
    folder = tmp_path / 'kept'
    pair = own_certificate(folder, own_addresses())
    before = pair[0].read_bytes()
    assert own_certificate(folder, own_addresses()) == pair
    assert pair[0].read_bytes() == before
    assert pair[1].stat().st_mode & 0o077 == 0
    own_certificate(folder, ['192.0.2.7'])
    assert pair[0].read_bytes() != before


def test_an_invalid_certificate_is_refused_and_without_openssl_one_is_to_be_given(
    tmp_path, pair, monkeypatch
):
    (tmp_path / 'bad.pem').write_text('nothing', encoding='utf-8')
    for cert in ('none.pem', str(tmp_path / 'bad.pem'), str(pair[0])):
        with pytest.raises(BadCertificate, match='certificate'):
            tls_context(cert, '')
    with pytest.raises(BadCertificate):
        own_certificate(tmp_path, ['not an address'])
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(BadCertificate, match='--cert'):
        own_certificate(tmp_path, ['127.0.0.1'])


def test_the_page_and_the_scenes_are_encrypted(secured):
    gateway, trust = secured
    assert gateway.url.startswith('https://127.0.0.1:')
    own = urllib.request.Request(gateway.url, headers={'Origin': 'https://127.0.0.1:1'})
    silent = [socket.create_connection(('127.0.0.1', gateway.port)) for _ in range(20)]
    with urllib.request.urlopen(own, context=trust, timeout=30) as answer:
        assert answer.read() == BIG
    url = gateway.url.replace('https', 'wss')
    with connect(url, ssl=trust, max_size=None) as client:
        client.send(HELLO)
        kinds = [json.loads(client.recv(timeout=30))['type'] for _ in range(100)]
    for link in silent:
        link.close()
    assert kinds[:2] == ['hello_ack', 'asset_manifest']
    assert set(kinds[2:]) == {'scene_state'}
