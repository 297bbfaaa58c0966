# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Make command-line parsers from the tables, and give user errors one plain ending."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
import functools
import sys

from urlab_ros_bridge import __version__
from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.wire.errors import UrlabError

USER_ERROR = 2


@dataclass(frozen=True, slots=True)
class Command:
    """
    One sub-command of `urlab`, for the parser and the documentation.

    :ivar module: holds `main(argv) -> exit code`; imported when the command runs.
    :ivar text: what it does, a few sentences.
    :ivar examples: (command line, what it is for).
    :ivar takes_ros_args: whether ROS arguments may follow after `--ros-args`.
    """

    name: str
    module: str
    summary: str
    text: str
    arguments: tuple[Argument, ...]
    examples: tuple[tuple[str, str], ...]
    takes_ros_args: bool = False

    def example_lines(self) -> list[str]:
        """Return the examples with their purposes aligned."""
        width = max(len(line) for line, _ in self.examples)
        return [f'{line:<{width}}  # {purpose}' for line, purpose in self.examples]


def make_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    examples = '\n'.join(f'  {line}' for line in command.example_lines())
    parser = argparse.ArgumentParser(
        prog=f'urlab {command.name}',
        description=command.text,
        allow_abbrev=False,
        epilog=f'examples:\n{examples}',
        formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=99),
    )
    parser.add_argument('--version', action='version', version=f'urlab {__version__}')
    for argument in command.arguments:
        add_argument(parser, argument)
    if command.takes_ros_args:
        parser.add_argument(
            '--ros-args',
            nargs='...',
            metavar='ARG',
            default=[],
            help='ROS arguments for the bridge, e.g. -p clock_rate:=50.0',
        )
    return parser


def add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    """Add one row of the table; a switch may stand alone or take true or false."""
    shown = argument.shown_default()
    details = [argument.text]
    if shown:
        details.append(f'[{shown}]')
    more = {'nargs': '?', 'const': True} if argument.is_switch else {}
    parser.add_argument(
        argument.flag,
        dest=argument.name,
        default=argument.initial(),
        type=_converter(argument),
        help=' '.join(details).replace('%', '%%'),
        metavar=argument.placeholder,
        **more,
    )


def _converter(argument: Argument) -> Callable[[str], object]:
    def convert(text: str) -> object:
        try:
            return argument.parse(text)
        except BadArgument as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def from_launch_style(argv: Sequence[str], arguments: Iterable[Argument]) -> list[str]:
    """
    Rewrite `name:=value`, as `ros2 launch` takes it, to `--name=value`.

    Whatever follows `--ros-args` is left alone.

    :raises UnknownArgument: when the name is not in the table.

    >>> from_launch_style(['world:=quadruped'], [Argument('world', '')])
    ['--world=quadruped']
    """
    flags = {argument.name: argument.flag for argument in arguments}
    end = argv.index('--ros-args') if '--ros-args' in argv else len(argv)
    rewritten = []
    for word in argv[:end]:
        name, assign, value = word.partition(':=')
        if assign and not word.startswith('-'):
            if name not in flags:
                raise UnknownArgument(name, flags)
            word = f'{flags[name]}={value}'
        rewritten.append(word)
    return [*rewritten, *argv[end:]]


def split_ros_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    Split a command line into our words and the ROS words, the latter without `--ros-args`.

    A section of ROS words runs from `--ros-args` to `--` or to the end, as rcl reads it.

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


def plain_errors(main: Callable[[list[str]], int]) -> Callable[[Sequence[str] | None], int]:
    """Turn a main of `argv` into a program: user errors end with one message and code 2."""

    @functools.wraps(main)
    def program(argv: Sequence[str] | None = None) -> int:
        try:
            return main(list(sys.argv[1:] if argv is None else argv))
        except UrlabError as error:
            print(f'error: {error}', file=sys.stderr, flush=True)
            return USER_ERROR
        except KeyboardInterrupt:
            return 130
        except BrokenPipeError:
            # The reader of `urlab doctor | head` has gone: nothing is left to say.
            sys.stderr.close()
            return 1

    return program
