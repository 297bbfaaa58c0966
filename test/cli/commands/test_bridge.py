# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import sys

from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.commands import bridge
from urlab_ros_bridge.cli.main import main


def node_words(*argv):
    return bridge.node_arguments(parse(bridge.COMMAND, argv))


def test_a_default_does_not_beat_a_parameter_file(tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('/**: {ros__parameters: {rpc_port: 7777}}')
    assert node_words('--params-file', str(file)) == ['--ros-args', '--params-file', str(file)]


def test_our_options_come_last_so_that_they_win_over_the_file_of_a_launch():
    words = node_words('--host=*', '--rpc-port=6001', '--ros-args', '--params-file', 'b.yaml')
    assert words.count('--params-file') == 1
    assert words.index('rpc_port:=6001') > words.index('--params-file')
    assert 'host:=127.0.0.1' in words


def test_an_offset_moves_ports_that_were_not_given_too():
    words = node_words('--port-offset=10', '--rpc-port=6001')
    assert {'rpc_port:=6011', 'state_port:=5565'} <= set(words)


def test_without_ros_one_line_explains_the_setup(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    assert main(['bridge']) == 2
    output = capsys.readouterr().err
    assert output.count('\n') == 1 and 'setup.bash' in output
