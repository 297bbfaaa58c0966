# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `urlab` command: choose the sub-command, import its module, run it."""

from __future__ import annotations

from collections.abc import Sequence
import importlib
import sys

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.commands import COMMANDS
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.wire.errors import UnknownName


def overview() -> str:
    """Return the text of `urlab --help`."""
    rows = '\n'.join(f'  {name:<11} {command.summary}' for name, command in COMMANDS.items())
    return (
        'usage: urlab COMMAND [ARGUMENT ...]\n\n'
        'Robot simulations that speak the URLab protocol, in ROS 2.\n\n'
        f'commands:\n{rows}\n\n'
        'options:\n'
        '  -h, --help  Show this text; "urlab COMMAND --help" explains a command.\n'
        '  --version   Show the version.\n\n'
        'example:\n  urlab up    # the rover world in ROS 2, on this machine\n'
    )


@plain_errors
def main(argv: Sequence[str]) -> int:
    """
    Run `urlab` with the words after its name; return the exit code.

    :raises UnknownName: (ends as a message and code 2) when there is no such command.
    """
    name, *rest = argv or ['--help']
    if name in ('-h', '--help', 'help'):
        print(overview(), end='')
        return 0
    if name == '--version':
        print(f'urlab {__version__}')
        return 0
    if name not in COMMANDS:
        raise UnknownName('command', name, COMMANDS)
    return importlib.import_module(COMMANDS[name].module).main(rest)


if __name__ == '__main__':
    sys.exit(main())
