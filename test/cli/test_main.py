# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math
import subprocess
import sys
import time

import pytest

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.commands import COMMANDS
from urlab_ros_bridge.cli.main import main


def test_overview_names_every_command(capsys):
    assert main(['--help']) == main([]) == 0
    shown = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert name in shown and command.summary in shown


@pytest.mark.parametrize('words', [[], *([name] for name in COMMANDS)])
def test_every_command_has_version_and_help(words, capsys):
    for flag, wanted in (('--version', __version__), ('--help', 'usage: urlab')):
        try:
            code = main([*words, flag])
        except SystemExit as end:
            code = end.code
        assert code == 0
        assert wanted in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_list(capsys):
    assert main(['servr']) == 2
    said = capsys.readouterr().err
    assert "'servr'" in said and all(name in said for name in COMMANDS)


def test_the_command_line_loads_neither_ros_nor_physics_and_is_quick():
    code = (
        'import sys\n'
        'from urlab_ros_bridge.cli.main import main\n'
        'main(["--help"])\n'
        'from urlab_ros_bridge.cli import bridge, doctor, server, up\n'
        'print([m for m in ("rclpy", "mujoco", "numpy", "zmq") if m in sys.modules])'
    )
    best = {'print([])': math.inf, code: math.inf}
    for program in 3 * list(best):
        before = time.monotonic()
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
        best[program] = min(best[program], time.monotonic() - before)
        assert done.stdout.splitlines()[-1] == '[]', done.stderr
    bare, ours = best.values()
    assert ours < 10 * bare  # three times on a quiet machine
