# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of keys: what is in them, who may read them, and that nothing there is overwritten."""

import os

import pytest
import zmq
from zmq.auth import load_certificate

from urlab_ros_bridge.transport.keys import KeysUnusable
from urlab_ros_bridge.transport.keys import make_keys
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.keys import read_server_keys


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()}


def test_server_and_clients_read_generated_keys_and_only_the_owner_reads_secrets(tmp_path):
    before = os.umask(0)
    try:
        made = make_keys(tmp_path / 'keys', ['laptop'])
    finally:
        os.umask(before)
    server = read_server_keys(tmp_path / 'keys')
    for folder, name in (('keys', 'client'), ('keys/laptop', 'laptop')):
        client = read_client_keys(str(tmp_path / folder))
        assert client.server == server.public
        assert zmq.curve_public(client.secret) == client.public
        assert load_certificate(server.clients / f'{name}.key')[0] == client.public
    assert set(made) == set(contents(tmp_path))
    modes = {'': 0o700, '.key': 0o644, '.key_secret': 0o600}
    for path in tmp_path.rglob('*'):
        assert path.stat().st_mode & 0o777 == modes[path.suffix], path
    for secret in (server.secret, client.secret):
        assert secret not in repr((server, client)).encode()
    assert read_client_keys(client) is client and read_client_keys('') is None


def test_existing_keys_are_kept(tmp_path):
    make_keys(tmp_path)
    before = contents(tmp_path)
    assert make_keys(tmp_path) == []
    make_keys(tmp_path, ['more'])
    after = contents(tmp_path)
    assert {path: after[path] for path in before} == before and len(after) == len(before) + 3


@pytest.mark.parametrize(
    ('file', 'content', 'problem'),
    [
        ('server.key_secret', None, 'No such file'),
        ('server.key_secret', b'public-key = "short"', '40 characters'),
        ('server.key_secret', b'public-key = "' + b'a' * 40 + b'"', 'no secret key'),
        ('clients/client.key', None, 'no public key of a client'),
        ('server.key_secret', b'metadata', 'contains no public key'),
    ],
)
def test_unusable_key_files_are_named(tmp_path, file, content, problem):
    make_keys(tmp_path)
    path = tmp_path / file
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(KeysUnusable, match=f'{path.parent}.*{problem}'):
        read_server_keys(tmp_path)


def test_a_secret_that_others_can_read_is_refused(tmp_path):
    make_keys(tmp_path)
    (tmp_path / 'client.key_secret').chmod(0o640)
    with pytest.raises(KeysUnusable, match='chmod 600'):
        read_client_keys(tmp_path)


@pytest.mark.parametrize('name', ['server', 'clients', '../up', '-x', ''])
def test_unusable_names_of_clients_are_refused_and_make_no_file(tmp_path, name):
    with pytest.raises(KeysUnusable, match='not a valid name'):
        make_keys(tmp_path / 'keys', [name])
    assert not (tmp_path / 'keys').exists()
