# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import sys

import pytest
from urlab_programs import ANY_PORTS

from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.commands import server
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.models import world_names
from urlab_ros_bridge.wire.addresses import is_loopback


def config(*argv):
    return server.server_config(parse(server.COMMAND, argv))


def test_the_defaults_are_those_of_the_settings():
    from urlab_ros_bridge.sim.config import ServerConfig

    assert config() == ServerConfig()


def test_an_editor_starts_without_a_world_unless_one_is_asked_for(tmp_path, capsys):
    model = tmp_path / 'robot.xml'
    model.touch()
    empty = config('--editor')
    assert (empty.editor, empty.world, empty.model) == (True, '', None)
    assert config('--editor', '--world', 'rover').world == 'rover'
    assert config('--editor', f'--world={world_names()[0]}').world == world_names()[0]
    assert config('--editor', '--model', str(model)).model == model
    assert config('--editor', 'false').world == 'rover'
    assert main(['server', '--editor', '--prefix', 'r1']) == 2
    assert 'are mutually exclusive' in capsys.readouterr().err


@pytest.mark.parametrize('address', ['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]', 'lo'])
def test_loopback(address):
    assert is_loopback(address)


@pytest.mark.parametrize('address', ['0.0.0.0', '*', '::', '192.168.1.2', 'eth0', 'example', ''])
def test_not_loopback(address):
    assert not is_loopback(address)


def test_binding_wider_than_loopback_warns(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    for address, warns in (('0.0.0.0', True), ('127.0.0.1', False)):
        main(['server', '--insecure', '--bind', address, *ANY_PORTS])
        assert ('anyone who can reach' in capsys.readouterr().err) is warns
