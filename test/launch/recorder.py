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
import sys
import types

MODULES = {
    'launch': ('Action', 'LaunchContext', 'LaunchDescription', 'Substitution'),
    'launch.actions': (
        'DeclareLaunchArgument',
        'ExecuteProcess',
        'GroupAction',
        'IncludeLaunchDescription',
        'LogInfo',
        'OpaqueFunction',
        'RegisterEventHandler',
        'SetLaunchConfiguration',
        'Shutdown',
    ),
    'launch.conditions': ('IfCondition', 'UnlessCondition'),
    'launch.event_handlers': ('OnProcessExit', 'OnProcessIO'),
    'launch.events': (),
    'launch.events.process': ('ProcessIO',),
    'launch.launch_description_sources': ('PythonLaunchDescriptionSource',),
    'launch.substitutions': ('AndSubstitution', 'LaunchConfiguration', 'NotSubstitution'),
    'launch_ros': (),
    'launch_ros.actions': ('Node',),
    'launch_ros.parameter_descriptions': ('ParameterValue',),
}


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


@contextmanager
def recorded_launch() -> Iterator[dict[str, type]]:
    """Put the recording classes in the place of `launch` and return them by name."""
    ours = 'urlab_ros_bridge.cli.launch_actions'
    saved = {name: sys.modules.pop(name, None) for name in (*MODULES, ours)}
    classes: dict[str, type] = {}
    for name, members in MODULES.items():
        module = types.ModuleType(name)
        module.__path__ = []
        for member in members:
            classes[member] = type(member, (Recorded,), {})
            setattr(module, member, classes[member])
        sys.modules[name] = module
    try:
        yield classes
    finally:
        for name, module in saved.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
