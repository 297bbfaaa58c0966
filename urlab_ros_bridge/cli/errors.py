# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that users can fix; each message says how."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError


class CliError(UrlabError):
    """Base of the errors of the command line."""


class BadArgument(SchemaError, CliError):
    """An argument has an invalid value; the message starts with its name."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__('', name, problem)


class UnknownArgument(CliError):
    """An argument is unknown."""

    def __init__(self, name: str, valid: Iterable[str]) -> None:
        names = list(valid)
        near = get_close_matches(name, names, n=1)
        better = f'did you mean {near[0]!r}?' if near else f'valid: {", ".join(names)}'
        super().__init__(f'unknown argument {name!r}; {better}')


class UnknownCommand(UnknownName, CliError):
    """A command is unknown."""

    def __init__(self, name: str, valid: Iterable[str]) -> None:
        super().__init__('command', name, valid)

    def __str__(self) -> str:
        return f'unknown command {self.name!r}; {hint(self.name, self.valid)}'


class UsageError(CliError):
    """A command line cannot be parsed: a value is missing, or an argument is unexpected."""


class PortInUse(CliError):
    """
    A port of the server is in use by another program.

    :param remedy: the argument that moves the ports, in the syntax of the user.
    """

    def __init__(self, name: str, port: int, address: str, holder: str, remedy: str) -> None:
        who = f' by {holder}' if holder else ''
        super().__init__(
            f'{name}: port {port} on {address} is in use{who}: stop that program, or move all '
            f'ports of this simulation with {remedy}'
        )


class RosNotFound(CliError):
    """`rclpy` or an interface package cannot be imported."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f'ROS 2 is not usable here ({cause}). With a ROS installation: source its setup.bash '
            'and that of the workspace, e.g. "source /opt/ros/jazzy/setup.bash && source '
            'install/setup.bash". Without one: run "make setup" in the source folder, then '
            '". ./env.sh". "urlab doctor" shows what is missing. The step server, the '
            'gateways and the evaluation of policies need no ROS'
        )


class ChildDied(CliError):
    """A process of `urlab up` ended unexpectedly."""

    def __init__(self, name: str, how: str, last_lines: Iterable[str]) -> None:
        lines = ''.join(f'\n    {line}' for line in last_lines)
        output = f'; its last lines:{lines}' if lines else ' without output'
        super().__init__(f'{name} {how}{output}')


class ProcessDied(CliError):
    """A process of a launch file ended unexpectedly."""

    def __init__(self, name: str, code: int) -> None:
        how = f'was killed by signal {-code}' if code < 0 else f'exited with code {code}'
        super().__init__(
            f'{name} {how}, and everything else depends on it; use_respawn:=true restarts it'
        )


class RosPackageMissing(CliError):
    """ROS packages that a process needs are not installed."""

    def __init__(self, what: str, missing: Iterable[str], distribution: str) -> None:
        names = list(missing)
        start = f'ros-{distribution or "DISTRO"}'
        debs = ' '.join(f'{start}-{name.replace("_", "-")}' for name in names)
        super().__init__(
            f'{what} needs {", ".join(names)}, not installed here: sudo apt install {debs}'
        )


def setup_command(extra: str) -> str:
    """Return the command that installs extras of this package, separated by commas."""
    return 'urlab setup' if extra == 'sim' else f'urlab setup --with {extra}'


class PackageMissing(CliError):
    """
    Packages that only some commands need are not installed.

    :param extra: extras of this package that install them, separated by commas.
    """

    def __init__(self, extra: str, names: Iterable[str]) -> None:
        listed = ', '.join(names)
        super().__init__(
            f'Python packages are not installed ({listed}): run "{setup_command(extra)}", which '
            'installs them into an environment of their own'
        )


class PythonUnusable(CliError):
    """The interpreter of --python lacks packages, or does not run."""

    def __init__(self, name: str, python: str, names: Iterable[str], what: str) -> None:
        super().__init__(
            f'{name}: {python} lacks packages that {what} needs ({", ".join(names)}): install '
            f'them there, or leave out {name} and run "urlab setup"'
        )
