# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The few classes of `launch` that the launch files use, keeping what they are given.

`launch` cannot be installed from a package index, so the structure of the description is tested
with these where it is missing, and with the real ones where it is there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import importlib.util
from pathlib import Path
import runpy
import sys
import types
from types import SimpleNamespace
from unittest import mock

from urlab_ros_bridge.cli.processes.table import READY_LINE

MODULES = (
    'launch',
    'launch.actions',
    'launch.event_handlers',
    'launch.events',
    'launch.events.process',
    'launch.launch_description_sources',
    'launch_ros',
    'launch_ros.actions',
)


class Recorded:
    """Keeps its arguments as `args` and, by name, as attributes."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.args = args
        self.__dict__.update(kwargs)


def launch_is_installed() -> bool:
    """Return whether the real thing is there; our own folder launch/ does not count."""
    try:
        return importlib.util.find_spec('launch.actions') is not None
    except ModuleNotFoundError:
        return False


class RecordingModule(types.ModuleType):
    """A module that has a recording class of every name, and keeps them in `classes`."""

    __path__ = ()

    def __init__(self, name: str, classes: dict[str, type]) -> None:
        super().__init__(name)
        self._classes = classes

    def __getattr__(self, name: str) -> type:
        return self._classes.setdefault(name, type(name, (Recorded,), {}))


@contextmanager
def recorded_launch() -> Iterator[dict[str, type]]:
    """Put the recording classes in place of `launch` and return them by name."""
    ours = 'urlab_ros_bridge.cli.processes.launch_actions'
    saved = {name: sys.modules.pop(name, None) for name in (*MODULES, ours)}
    classes: dict[str, type] = {}
    sys.modules |= {name: RecordingModule(name, classes) for name in MODULES}
    try:
        yield classes
    finally:
        for name, module in saved.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


class Launched:
    """
    What a launch file does with arguments: its description made with the recording classes.

    :param words: its arguments as they are typed, `name:=value`.
    :ivar declared: the launch arguments by name.
    :ivar started: the actions that start something.
    """

    def __init__(self, file: Path, *words: str) -> None:
        with recorded_launch() as self.classes:
            described = runpy.run_path(str(file))['generate_launch_description']()
            check, *declared, begin = described.args[0]
            self.declared = {each.args[0]: each for each in declared}
            given = dict(word.split(':=', 1) for word in words)
            typed = ['ros2', 'launch', 'urlab_ros_bridge', file.name, *words]
            context = SimpleNamespace(argv=list(words), launch_configurations=given)
            with mock.patch.object(sys, 'argv', typed):
                assert check.function(context) is None
                for name, argument in self.declared.items():
                    given.setdefault(name, argument.default_value)
                self.started = begin.function(context)

    def of(self, name: str, actions: list | None = None) -> list:
        """Return the actions of a class."""
        kind = self.classes[name]
        return [each for each in actions or self.started if isinstance(each, kind)]

    def handlers(self, name: str) -> list:
        """Return the event handlers of a class."""
        inner = [action.args[0] for action in self.of('RegisterEventHandler')]
        return [handler for handler in inner if isinstance(handler, self.classes[name])]

    def programs(self) -> dict[str, Recorded]:
        """Return the programs by name: those started at once, and those that wait."""
        found = [*self.of('ExecuteProcess'), *self.of('Node')]
        for handler in self.handlers('OnProcessIO'):
            found += handler.on_stdout(SimpleNamespace(text=READY_LINE.encode()))
        return {getattr(each, 'exec_name', None) or each.name: each for each in found}


def words_of(program: Recorded) -> list[str]:
    """Return the command line of a program, as launch and launch_ros lay it out."""
    if hasattr(program, 'cmd'):
        return program.cmd
    words = [program.executable, *program.arguments, '--ros-args', *program.ros_arguments]
    if program.namespace:
        words += ['-r', f'__ns:=/{program.namespace}']
    for file in program.parameters:
        words += ['--params-file', file] if isinstance(file, str) else []
    return words
