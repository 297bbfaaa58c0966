# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A command is one file: nothing else names it."""

import pytest

from urlab_ros_bridge.cli import commands
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.errors import UnknownCommand
from urlab_ros_bridge.cli.main import main

NEW = """
from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class GreetArguments(Arguments):
    name: str = key('world', 'Whom to greet.')


def run(given):
    print(f'hello, {given.values.name}')
    return 3


EXAMPLES = (('urlab greet', 'all'),)
COMMAND = Command('greet', 'Greet somebody.', 'Greet.', GreetArguments, run, EXAMPLES)
"""


def test_every_command_has_the_name_of_its_module():
    found = commands.all_commands()
    assert list(found) == sorted(found) and len(found) > 7
    assert all(name == command.name for name, command in found.items())


def test_a_new_command_is_one_new_file(tmp_path, monkeypatch, capsys):
    (tmp_path / 'greet.py').write_text(NEW)
    monkeypatch.setattr(commands, '__path__', [*commands.__path__, str(tmp_path)])
    assert main(['greet', '--name=you']) == 3
    assert main(['--help']) == 0
    shown = capsys.readouterr().out
    assert 'hello, you' in shown and 'greet       Greet somebody.' in shown
    with pytest.raises(UnknownCommand, match="did you mean 'greet'"):
        commands.find_command('gret')
    assert parse(commands.find_command('greet'), []).values.name == 'world'
