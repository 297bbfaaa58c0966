# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that a user of the command line can mend; each message says how."""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError


class CliError(UrlabError):
    """Base of the errors of the command line: the message is all the user needs."""


class BadArgument(CliError):
    """A value on the command line is not one the argument takes."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(f'{name} is {value!r}, which is not {wanted}')


class UnknownArgument(CliError):
    """A `name:=value` argument has a name that the command does not know."""

    def __init__(self, name: str, valid: Iterable[str]) -> None:
        super().__init__(f'unknown argument {name!r}; {list_names("argument", valid, 40)}')


class ConflictingArguments(CliError):
    """Two arguments exclude each other."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f'{first} and {second} exclude each other: give one of them')


class PortInUse(CliError):
    """A port that the server must bind is held by another program."""

    def __init__(self, flag: str, port: int, address: str, holder: str = '') -> None:
        who = f' by {holder}' if holder else ''
        super().__init__(
            f'port {port} on {address} is in use{who}: stop that program, or choose another '
            f'port with {flag}'
        )


class RosNotFound(CliError):
    """`rclpy` or an interface package cannot be imported."""

    def __init__(self, cause: ImportError) -> None:
        super().__init__(
            f'ROS 2 is not usable here ({cause}). With a ROS installation: source its setup.bash '
            'and that of the workspace, e.g. "source /opt/ros/jazzy/setup.bash && source '
            'install/setup.bash". Without one: run "make setup" in the source folder, then '
            '". ./env.sh". "urlab doctor" shows what is missing'
        )


class MujocoNotFound(CliError):
    """The `mujoco` package cannot be imported."""

    def __init__(self, cause: ImportError) -> None:
        super().__init__(
            f'the step server needs MuJoCo ({cause}). Run "make setup" in the source folder and '
            '". ./env.sh", or "pip install mujoco"'
        )


class FileMissing(CliError):
    """A file named on the command line is not there."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(f'{name}: there is no file {path!r}')


class ChildDied(CliError):
    """A process of `urlab up` ended by itself."""

    def __init__(self, name: str, how: str, last_lines: Iterable[str]) -> None:
        lines = ''.join(f'\n    {line}' for line in last_lines)
        said = f'; its last lines:{lines}' if lines else ' without a word'
        super().__init__(f'{name} {how}{said}')


class PackageMissing(CliError):
    """A package that only some commands need cannot be imported."""

    def __init__(self, what: str, extra: str, cause: ImportError) -> None:
        super().__init__(
            f'{what} needs a package that is not there ({cause}): pip install '
            f'"urlab_ros_bridge[{extra}]"'
        )
