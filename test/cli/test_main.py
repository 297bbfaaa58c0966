# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
import math
import resource
import sys

from lifelines import run_process
import pytest

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli import program
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.wire.errors import UrlabError

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


def test_the_command_line_loads_neither_ros_nor_physics_and_is_quick():
    code = (
        'import sys\n'
        'from urlab_ros_bridge.cli.main import main\n'
        'main(["--help"])\n'
        'from urlab_ros_bridge.cli.commands import all_commands\n'
        'all_commands()\n'
        'print([m for m in ("rclpy", "mujoco", "numpy", "zmq") if m in sys.modules])'
    )
    best = {'print([])': math.inf, code: math.inf}
    for script in 3 * list(best):
        before = cpu_seconds()
        done = run_process([sys.executable, '-c', script], capture_output=True, text=True)
        best[script] = min(best[script], cpu_seconds() - before)
        assert done.stdout.splitlines()[-1] == '[]', done.stderr
    bare, ours = best.values()
    assert ours < 10 * bare  # some four times


def cpu_seconds():
    """Return what the children that ended have used; waiting on a busy machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    ('error', 'code', 'output'),
    [
        (UrlabError('the cat is on the mat'), 2, 'error: the cat is on the mat\n'),
        (KeyboardInterrupt(), 130, ''),
    ],
)
def test_an_error_of_the_user_is_one_message(error, code, output, monkeypatch, capsys):
    def run(given):
        raise error

    command = replace(COMMANDS['doctor'], run=run)
    monkeypatch.setattr(program, 'find_command', lambda name: command)
    assert main(['doctor']) == code
    assert capsys.readouterr().err == output
