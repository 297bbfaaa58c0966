# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The commands of `urlab`, one module each.

A new command is a new module that defines a `Command` as `COMMAND`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.errors import UnknownCommand


def command_names() -> list[str]:
    """Return the names of all commands, in alphabetical order."""
    return sorted(module.name for module in iter_modules(__path__))


def find_command(name: str) -> Command:
    """
    Return a command.

    :raises UnknownCommand: when there is none with that name.
    """
    names = command_names()
    if name not in names:
        raise UnknownCommand(name, names)
    command: Command = import_module(f'{__name__}.{name}').COMMAND
    return command


def all_commands() -> dict[str, Command]:
    """Return all commands by name."""
    return {name: find_command(name) for name in command_names()}
