# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Read a command line: options, `name:=value` as launch takes it, and ROS arguments.

argparse only finds the texts, and prints the help; what a text means is the business of
`argument`, so that launch files and the command line say the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Container
from collections.abc import Sequence
import functools
import re
from typing import Any
from typing import NoReturn

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.errors import UsageError

_LAUNCH_STYLE = re.compile(r'([A-Za-z_]\w*):=(.*)', re.DOTALL)


class _Parser(argparse.ArgumentParser):
    """An argparse parser that reports mistakes as one line."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix('argument ')
        raise UsageError(f'{message}; "{self.prog} --help" explains the arguments')


def make_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of a command; it leaves out what was not given."""
    examples = '\n'.join(f'  {line}' for line in command.example_lines())
    parser = _Parser(
        prog=f'urlab {command.name}',
        description=command.text,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        epilog=f'examples:\n{examples}',
        formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=99),
    )
    parser.add_argument('--version', action='version', version=f'urlab {__version__}')
    for argument in arguments_of(command.section).values():
        _add_argument(parser, argument)
    if command.takes_ros_args:
        # Found by split_ros_arguments; here for the help.
        parser.add_argument(
            '--ros-args',
            nargs='...',
            metavar='ARG',
            help='ROS arguments for the node, e.g. -p NAME:=VALUE',
        )
    return parser


def _add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    """Add one argument; a switch may stand alone or take true or false."""
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
    Return what a command line says.

    :raises UnknownArgument: when it names an argument that the command does not have.
    :raises BadArgument: when a value is not one that its argument takes.
    :raises UsageError: when a value is missing, or an argument is unexpected.
    """
    ours, ros = split_ros_arguments(argv) if command.takes_ros_args else (list(argv), [])
    repeatable = {each.flag: each for each in command.arguments if each.separator}
    spelling, options, launch = split_launch_style(ours, repeatable)
    found, rest = make_parser(command).parse_known_args(options)
    if rest:
        raise _unknown(rest[0], command)
    known = arguments_of(command.section)
    texts = {
        name: known[name].separator.join(text) if isinstance(text, list) else text
        for name, text in vars(found).items()
        if text is not None
    }
    values = read_arguments(command.section, {**texts, **launch}, spelling)
    return ParsedArguments(values, frozenset({*texts, *launch}), tuple(ros), spelling)


def _unknown(word: str, command: Command) -> UnknownArgument | UsageError:
    if word.startswith('-'):
        flags = [each.flag for each in command.arguments if not each.is_positional]
        return UnknownArgument(word.partition('=')[0], flags)
    return UsageError(f'unexpected argument {word!r}: arguments are --name value, or name:=value')


def split_launch_style(
    argv: Sequence[str], literal: Container[str] = ()
) -> tuple[Spelling, list[str], dict[str, str]]:
    """
    Split off what is written `name:=value`, as `ros2 launch` takes it; the last one wins.

    :param literal: options whose value may itself be written like that.

    >>> split_launch_style(['--paused', 'world:=fleet'])[1:]
    (['--paused'], {'world': 'fleet'})
    """
    options: list[str] = []
    launch: dict[str, str] = {}
    for before, word in zip(('', *argv), argv, strict=False):
        found = _LAUNCH_STYLE.fullmatch(word)
        if found and before not in literal:
            launch[found[1]] = found[2]
        else:
            options.append(word)
    return (Spelling.LAUNCH if launch else Spelling.OPTION), options, launch


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
