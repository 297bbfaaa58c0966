# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a command of `urlab` is, for the parser and the documentation."""

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
    A command line that was read.

    :ivar values: the arguments, checked.
    :ivar names: those that were on the command line; the others have their defaults.
    :ivar ros: the ROS arguments, without `--ros-args`.
    """

    values: A
    names: frozenset[str] = frozenset()
    ros: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """
    One sub-command of `urlab`.

    A module of `cli.commands` whose name is that of the command holds one as `COMMAND`.  Neither
    importing the module nor declaring the arguments loads ROS, MuJoCo, NumPy or ZeroMQ.

    :ivar text: what it does, a few sentences.
    :ivar section: class of its arguments.
    :ivar run: does it, and returns the exit code.
    :ivar examples: (command line, what it is for).
    :ivar takes_ros_args: whether ROS arguments may follow after `--ros-args`.
    :ivar handles_signals: whether it handles signals itself once it runs, and does not want a
        KeyboardInterrupt before: until then Ctrl-C ends the process at once.
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
