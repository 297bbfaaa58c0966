# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of `urlab`: their declaration, for the parser and the documentation."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.cli.arguments.argument import Argument
from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.argument import arguments_of

A = TypeVar('A', bound=Arguments)


@dataclass(frozen=True, slots=True)
class ParsedArguments(Generic[A]):
    """
    A parsed command line.

    :ivar values: the checked arguments.
    :ivar names: the arguments on the command line; all others have their defaults.
    :ivar ros: the ROS arguments, without `--ros-args`.
    """

    values: A
    names: frozenset[str] = frozenset()
    ros: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """
    One sub-command of `urlab`.

    The module of `cli.commands` with the name of the command defines it as `COMMAND`.  Importing
    the module loads neither ROS nor MuJoCo, NumPy or ZeroMQ.

    :ivar text: description, a few sentences.
    :ivar section: class of its arguments.
    :ivar run: runs the command and returns the exit code.
    :ivar examples: (command line, purpose).
    :ivar takes_ros_args: whether ROS arguments may follow after `--ros-args`.
    :ivar handles_signals: whether it installs its own signal handlers; until then Ctrl-C ends the
        process at once.
    """

    name: str
    summary: str
    text: str
    section: type[Arguments]
    run: Callable[[ParsedArguments[Any]], int]
    examples: tuple[tuple[str, str], ...]
    takes_ros_args: bool = False
    handles_signals: bool = False

    @property
    def arguments(self) -> list[Argument]:
        """Return its arguments in the order of the help, without the hidden ones."""
        return [each for each in arguments_of(self.section).values() if not each.is_hidden]

    def example_lines(self) -> Iterable[str]:
        """Return the examples with their purposes aligned."""
        width = max(len(line) for line, _ in self.examples)
        return [f'{line:<{width}}  # {purpose}' for line, purpose in self.examples]
