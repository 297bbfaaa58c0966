# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Completion of command lines in the shell, by argcomplete as `ros2` has it.

A shell in which `eval "$(register-python-argcomplete urlab)"` was run starts `urlab` with
_ARGCOMPLETE set at each press of the Tab key; env.sh does that for bash.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import os

from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.checks import bundled_world
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.parser import make_parser
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.models import world_names

Completer = Callable[..., list[str]]


def is_wanted() -> bool:
    """Return whether this process was started by a shell that completes a command line."""
    return '_ARGCOMPLETE' in os.environ


def complete() -> None:
    """Write what may follow to the shell and exit; return where argcomplete is not installed."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(_parser(), always_complete_options='long')


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser('urlab')
    parser.add_argument('--version', action='store_true')
    commands = parser.add_subparsers()
    for name, command in all_commands().items():
        inner = commands.add_parser(
            name, parents=[make_parser(command)], add_help=False, help=command.summary
        )
        _complete_values(inner, command)
    return parser


def _complete_values(parser: argparse.ArgumentParser, command: Command) -> None:
    known = {argument.name: argument for argument in command.arguments}
    for action in parser._actions:
        argument = known.get(action.dest)
        if argument is not None and not argument.is_path:  # argcomplete completes files itself
            values = _values(argument)
            action.completer = lambda values=values, **_: values  # type: ignore[attr-defined]
    words = parser.add_argument('name:=value', nargs='*')
    words.completer = _launch_style(known)  # type: ignore[attr-defined]


def _values(argument: Argument) -> list[str]:
    if argument.is_switch:
        return ['true', 'false']
    if argument.key.check is bundled_world:
        return world_names()
    return list(argument.choices)


def _launch_style(known: dict[str, Argument]) -> Completer:
    """Complete `name:=value`, as `ros2 launch` takes it."""

    def completer(prefix: str, **_: object) -> list[str]:
        name, assigns, _value = prefix.partition(':=')
        if assigns and name in known:
            return [f'{name}:={value}' for value in _values(known[name])]
        return [f'{name}:=' for name, each in known.items() if not each.is_positional]

    return completer


__all__ = ['complete', 'is_wanted']
