# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Shell completion by argcomplete, as in `ros2`.

A shell in which `eval "$(register-python-argcomplete urlab)"` was run starts `urlab` with
_ARGCOMPLETE set at each press of the Tab key; env.sh does that for bash.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import os

from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.checks import bundled_world
from urlab_ros_bridge.cli.arguments.checks import chiral_profile
from urlab_ros_bridge.cli.arguments.checks import POLICIES
from urlab_ros_bridge.cli.arguments.checks import policy_file
from urlab_ros_bridge.cli.arguments.checks import PROFILES
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.parser import make_parser
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.files.folders import shipped_names
from urlab_ros_bridge.models import world_names

Completer = Callable[..., list[str]]
# Names of bundled files, by the check of the arguments that accept them.
_NAMES: dict[object, Callable[[], list[str]]] = {
    bundled_world: world_names,
    chiral_profile: lambda: shipped_names(PROFILES, '.yaml'),
    policy_file: lambda: shipped_names(POLICIES, '.yaml'),
}


def is_wanted() -> bool:
    """Return whether a shell started this process to complete a command line."""
    return '_ARGCOMPLETE' in os.environ


def complete() -> None:
    """Write the completions and exit; return if argcomplete is not installed."""
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
        if argument is not None:
            action.completer = _completer(argument)  # type: ignore[attr-defined]


def _completer(argument: Argument) -> Completer:
    """Complete the value: names that are known, and files where it is a path."""
    from argcomplete.completers import FilesCompleter

    values = _values(argument)
    files = FilesCompleter()

    def completer(prefix: str, **_: object) -> list[str]:
        return [*values, *(files(prefix) if argument.is_path else ())]

    return completer


def _values(argument: Argument) -> list[str]:
    if argument.is_switch:
        return ['true', 'false']
    names = _NAMES.get(argument.key.check)
    return list(argument.choices) if names is None else names()


__all__ = ['complete', 'is_wanted']
