# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator
import importlib
from types import ModuleType

from urlab_ros_bridge.conformance.check import Check

MODULES = (
    'encoding',
    'errors',
    'session',
    'handshake',
    'assets',
    'meta',
    'observations',
    'stamps',
    'step_direct',
    'step_forces',
    'step_modes',
    'reset',
    'runtime',
    'controllers',
    'poses',
    'contacts',
    'options',
    'recording',
    'replay',
    'rows',
    'snapshots',
    'cameras',
    'shm',
    'streams',
    'editor',
    'shutdown',
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
