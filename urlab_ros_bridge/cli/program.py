# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Select a command, parse its arguments, run it, and report errors in one message."""

from __future__ import annotations

from collections.abc import Sequence
import sys

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.logs import printable
from urlab_ros_bridge.cli.packages import continue_where_complete
from urlab_ros_bridge.cli.signals import ignore_interrupt
from urlab_ros_bridge.cli.signals import INTERRUPTED
from urlab_ros_bridge.cli.signals import unwind_on_stop
from urlab_ros_bridge.wire.errors import UrlabError

USER_ERROR = 2


def overview() -> str:
    """Return the text of `urlab --help`."""
    rows = '\n'.join(f'  {name:<11} {each.summary}' for name, each in all_commands().items())
    return (
        'usage: urlab COMMAND [ARGUMENT ...]\n\n'
        'Robot simulations that speak the URLab protocol, in ROS 2.\n\n'
        f'commands:\n{rows}\n\n'
        'options:\n'
        '  -h, --help  Show this text; "urlab COMMAND --help" explains a command.\n'
        '  --version   Show the version.\n\n'
        'example:\n  urlab up    # the rover world in ROS 2, on this machine\n'
    )


def run(argv: Sequence[str], is_program: bool = False) -> int:
    """
    Run a command line; return the exit code.

    A mistake in the arguments or the set-up is one message on stderr and exit code 2.

    :param is_program: whether this process may continue as another Python that has the packages.
    """
    try:
        return _run(is_program, *(argv or ['--help']))
    except UrlabError as error:
        print(f'error: {printable(error)}', file=sys.stderr, flush=True)
        return USER_ERROR
    except KeyboardInterrupt:
        ignore_interrupt()
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe, as in `urlab doctor | head`.
        sys.stderr.close()
        return 1
    except OSError as error:  # a full disk, a folder that is read-only, a file in place of one
        where = f'{error.filename}: ' if error.filename else ''
        text = printable(f'{where}{error.strerror or error}')
        print(f'error: {text}', file=sys.stderr, flush=True)
        return USER_ERROR


def _run(is_program: bool, name: str, *rest: str) -> int:
    if name in ('-h', '--help', 'help'):
        print(overview(), end='')
        return 0
    if name == '--version':
        print(f'urlab {__version__}')
        return 0
    command = find_command(name)
    given = parse(command, rest)
    if is_program:
        continue_where_complete(name, rest)
    if not command.handles_signals:
        unwind_on_stop()
    return command.run(given)
