# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What each command needs beside the packages of every command, and the Python that has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
import os

from urlab_ros_bridge import interpreters
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.cli.errors import RosNotFound
from urlab_ros_bridge.cli.signals import ending_at_once

ROS = (interpreters.ROS, 'tf2_msgs', 'urlab_msgs')


@dataclass(frozen=True, slots=True)
class Needs:
    """
    What a command needs.

    :ivar modules: Python modules.
    :ivar extra: extra of this package that installs them; empty: they are from ROS alone.
    """

    modules: tuple[str, ...] = ()
    extra: str = 'sim'

    def missing(self) -> tuple[str, ...]:
        """
        Return what is missing, empty if any Python has all of it.

        Where none has, that is what the environment of `urlab setup` lacks, or else this Python.
        """
        if interpreters.find_python(self.modules) is not None:
            return ()
        own = interpreters.python_of(interpreters.own_folder())
        if interpreters.ROS not in self.modules and os.access(own, os.X_OK):
            return interpreters.missing_in(own, self.modules)
        return interpreters.missing_here(self.modules)


# By command; the others need no more than every command does.
NEEDS = {
    'bridge': Needs(ROS, ''),
    'chiral': Needs(('mujoco', 'websockets'), 'chiral'),
    'eval': Needs(('websockets',), 'chiral'),
    'export': Needs(('mcap', 'pyarrow'), 'eval'),
    'import': Needs(('mujoco',), 'urdf'),
    'map': Needs(('mujoco',)),
    'policy': Needs((*ROS, 'onnxruntime'), 'policy'),
    'robots': Needs(('mujoco', 'mujoco_menagerie'), 'robots'),
    'server': Needs(('mujoco',)),
    'simspark': Needs(('mujoco',), 'simspark'),
    'view': Needs(('mujoco',)),
    'webxr': Needs(('mujoco', 'orjson', 'websockets'), 'webxr'),
}


def require(command: str) -> None:
    """
    Import what a command needs.

    :raises CliError: when a module cannot be imported; the message says how to install it.
    """
    needs = NEEDS.get(command, Needs())
    if missing := interpreters.missing_here(needs.modules):
        raise missing_error(needs.missing() or missing, needs.extra)
    for name in needs.modules:
        try:
            with ending_at_once():
                import_module(f'{name}.msg' if name in ROS[1:] else name)
        except ImportError as error:
            raise missing_error([name], needs.extra, error) from None


def continue_where_complete(command: str, words: Sequence[str]) -> None:
    """Run a command on the Python that has what it needs; return if that is this one, or none."""
    if python := interpreters.find_python(NEEDS.get(command, Needs()).modules):
        interpreters.continue_on(python, [command, *words])


def missing_error(names: Sequence[str], extra: str, cause: ImportError | None = None) -> CliError:
    """Return the error for modules that are missing, or that cannot be imported."""
    if ros := [name for name in names if name in ROS]:
        return RosNotFound(str(cause or f'No module named {ros[0]!r}'))
    return PackageMissing(extra, [f'{names[0]}: {cause}'] if cause else names)
