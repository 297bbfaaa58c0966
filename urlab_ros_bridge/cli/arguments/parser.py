# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Read a command line: options, and ROS arguments.

argparse only splits the command line and prints the help; `argument` converts and checks the
values, so that launch files and the command line accept the same ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import functools
import re
from typing import Any
from typing import NoReturn

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import titled_groups
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.errors import UsageError

_LAUNCH_STYLE = re.compile(r'([a-z_]+):=(.*)', re.DOTALL)


class _Parser(argparse.ArgumentParser):
    """An argparse parser that reports mistakes as one line."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix('argument ')
        raise UsageError(f'{message}; "{self.prog} --help" explains the arguments')


def make_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of a command; its result has only the given arguments."""
    known = arguments_of(command.section)
    values = [f' [{each.placeholder}]' for each in known.values() if each.is_positional]
    ros = ' [--ros-args ARG ...]' if command.takes_ros_args else ''
    examples = '\n'.join(f'  {line}' for line in command.example_lines())
    parser = _Parser(
        prog=f'urlab {command.name}',
        usage=f'urlab {command.name}{"".join(values)} [OPTION ...]{ros}',
        description=f'{command.text}\n\nexamples:\n{examples}',
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        formatter_class=functools.partial(
            argparse.RawDescriptionHelpFormatter, width=99, max_help_position=32
        ),
    )
    parser.add_argument('--version', action='version', version=f'urlab {__version__}')
    groups: dict[str, argparse._ActionsContainer] = {'': parser}
    for title, names in titled_groups(command.section):
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        for name in names:
            _add_argument(groups[title], known[name])
    if command.takes_ros_args:
        # Found by split_ros_arguments; here for the help.
        parser.add_argument(
            '--ros-args',
            nargs='...',
            metavar='ARG',
            help='ROS arguments for the node, e.g. -p NAME:=VALUE',
        )
    return parser


def _add_argument(parser: argparse._ActionsContainer, argument: Argument) -> None:
    """Add one argument; a switch may have no value, true or false."""
    details = [argument.text]
    if shown := argument.shown_default():
        details.append(f'[{shown}]')
    text = ' '.join(details).replace('%', '%%')
    if argument.is_positional:
        parser.add_argument(argument.name, nargs='?', help=text, metavar=argument.placeholder)
        return
    switch: dict[str, Any] = {'nargs': '?', 'const': 'true'} if argument.is_switch else {}
    if argument.separator:
        switch['action'] = 'append'
    parser.add_argument(
        argument.flag,
        dest=argument.name,
        help=argparse.SUPPRESS if argument.is_hidden else text,
        metavar=argument.placeholder,
        **switch,
    )


def parse(command: Command, argv: Sequence[str]) -> ParsedArguments[Any]:
    """
    Return the arguments of a command line.

    :raises UnknownArgument: when it names an argument that the command does not have.
    :raises BadArgument: when a value is not one that its argument takes.
    :raises UsageError: when a value is missing, or an argument is unexpected.
    """
    ours, ros = split_ros_arguments(argv) if command.takes_ros_args else (list(argv), [])
    found, rest = make_parser(command).parse_known_args(ours)
    if rest:
        raise _unexpected(rest[0], command)
    known = arguments_of(command.section)
    texts = {
        name: known[name].separator.join(text) if isinstance(text, list) else text
        for name, text in vars(found).items()
        if text is not None
    }
    for name, text in texts.items():
        if known[name].is_positional and _LAUNCH_STYLE.fullmatch(text):
            raise _unexpected(text, command)
    values = read_arguments(command.section, texts)
    return ParsedArguments(values, frozenset(texts), tuple(ros))


def _unexpected(word: str, command: Command) -> UnknownArgument | UsageError:
    known = arguments_of(command.section)
    flags = [each.flag for each in known.values() if not (each.is_positional or each.is_hidden)]
    if word.startswith('-'):
        return UnknownArgument(word.partition('=')[0], flags)
    if launch := _LAUNCH_STYLE.fullmatch(word):
        if launch[1] not in known:
            return UnknownArgument(launch[1], known)
        flag = known[launch[1]].flag
        return UsageError(
            f'unexpected argument {word!r}: write {flag} {launch[2]} (name:=value is for '
            'ros2 launch)'
        )
    return UsageError(f'unexpected argument {word!r}: arguments are written --name value')


def split_ros_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    Split a command line into our arguments and the ROS ones, the latter without `--ros-args`.

    A section of ROS arguments runs from `--ros-args` to `--` or to the end, as rcl reads it.

    >>> split_ros_arguments(['--host=a', '--ros-args', '-r', '__ns:=/x', '--', '--rpc-port=1'])
    (['--host=a', '--rpc-port=1'], ['-r', '__ns:=/x'])
    """
    ours: list[str] = []
    ros: list[str] = []
    target = ours
    for word in argv:
        if word == '--ros-args':
            target = ros
        elif word == '--' and target is ros:
            target = ours
        else:
            target.append(word)
    return ours, ros
