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


def test_every_argument_reaches_the_settings(tmp_path):
    model = tmp_path / 'robot.xml'
    model.touch()
    words = f'--model {model} --prefix r1 --actor-id a1 --bind 0.0.0.0 --rpc-port 1 --state-port 2'
    words += (
        ' --insecure --camera-port 3 --control-port 4 --info-port 5 --step-mode puppet --paused'
    )
    words += f' --data-dir {tmp_path}'
    made = config(*words.split(), '--allow-absolute-paths', 'true')
    assert (made.model, made.prefix, made.actor_id, made.bind) == (model, 'r1', 'a1', '0.0.0.0')
    assert (made.rpc_port, made.state_port, made.camera_port) == (1, 2, 3)
    assert (made.control_port, made.info_port) == (4, 5)
    assert (made.step_mode, made.paused, made.data_dir) == ('puppet', True, tmp_path)
    assert made.allow_absolute_paths is True


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


def test_a_world_and_a_model_exclude_each_other(tmp_path, capsys):
    model = tmp_path / 'robot.xml'
    model.touch()
    assert main(['server', '--world', 'quadruped', '--model', str(model)]) == 2
    assert 'are mutually exclusive' in capsys.readouterr().err
    # A launch file passes every argument, also those that were not given.
    assert config('--world=rover', f'--model={model}').model == model
    assert config('--world=quadruped', '--model=').model is None


def test_without_mujoco_one_line_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    assert main(['server', *ANY_PORTS]) == 2
    said = capsys.readouterr().err
    assert said.count('\n') == 1 and 'pip install mujoco' in said


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
