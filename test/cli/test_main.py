# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import sys

from lifelines import run_process
import pytest

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.main import main

COMMANDS = all_commands()


@pytest.mark.parametrize('words', [[], *([name] for name in COMMANDS)])
def test_every_command_has_version_and_help(words, capsys):
    for flag, wanted in (('--version', __version__), ('--help', 'usage: urlab')):
        try:
            code = main([*words, flag])
        except SystemExit as end:
            code = end.code
        assert code == 0
        assert wanted in capsys.readouterr().out


def test_the_command_line_loads_neither_ros_nor_physics():
    code = (
        'import sys\n'
        'from urlab_ros_bridge.cli.main import main\n'
        'main(["--help"])\n'
        'from urlab_ros_bridge.cli.commands import all_commands\n'
        'all_commands()\n'
        'print([m for m in ("rclpy", "mujoco", "numpy", "zmq") if m in sys.modules])'
    )
    done = run_process([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == '[]', done.stderr
