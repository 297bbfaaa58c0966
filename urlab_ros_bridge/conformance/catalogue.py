# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator
import importlib
from types import ModuleType

from urlab_ros_bridge.conformance.check import Check

MODULES = (
    'requests.encoding',
    'requests.errors',
    'requests.session',
    'requests.handshake',
    'requests.assets',
    'requests.meta',
    'stepping.observations',
    'stepping.stamps',
    'stepping.step_direct',
    'stepping.step_forces',
    'stepping.step_modes',
    'stepping.reset',
    'world.runtime',
    'world.controllers',
    'world.poses',
    'world.contacts',
    'world.options',
    'world.recording',
    'world.replay',
    'streams.rows',
    'streams.snapshots',
    'streams.cameras',
    'streams.shm',
    'streams.control_and_info',
    'world.editor',
    'requests.shutdown',
)


def _checks_of(module: ModuleType) -> Iterator[Check]:
    """Yield the checks that a module defines, also those in tuples, in order of definition."""
    for value in vars(module).values():
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Check):
                yield item


def all_checks() -> list[Check]:
    """
    Return every check once.

    :raises ValueError: when two have one name.
    """
    found: dict[str, Check] = {}
    for name in MODULES:
        module = importlib.import_module(f'urlab_ros_bridge.conformance.checks.{name}')
        for check in _checks_of(module):
            if check.run.__module__ != module.__name__:
                continue
            if found.setdefault(check.name, check) is not check:
                raise ValueError(f'two checks are called {check.name}')
    return list(found.values())


def select(checks: list[Check], patterns: list[str]) -> list[Check]:
    """Return the checks that fit any of the patterns; all when there is none."""
    return [c for c in checks if not patterns or any(c.matches(p) for p in patterns)]
