# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a controller_manager: which controllers it has, and how often it updates them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urlab_ros_bridge.cli.arguments.checks import parameter_file
from urlab_ros_bridge.schema import read_yaml

MANAGER = 'controller_manager'
# What controller_manager updates without a parameter (Hz).
UPDATE_RATE = 100.0


@dataclass(frozen=True)
class Controllers:
    """The controllers by name, in order of the file, and their rate (Hz)."""

    names: tuple[str, ...]
    update_rate: float


def read_controllers(path: str) -> Controllers:
    """
    Read the parameters of controller_manager, whatever its namespace.

    :raises SchemaError: when the file is not YAML.
    """
    names: dict[str, None] = {}
    rate: Any = UPDATE_RATE
    for parameters in _of_manager(read_yaml(Path(path)).value):
        rate = parameters.get('update_rate', rate)
        names |= {
            name: None
            for name, value in parameters.items()
            if isinstance(value, dict) and 'type' in value
        }
    return Controllers(tuple(names), float(rate))


def _of_manager(nodes: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(nodes, dict):
        return
    for name, node in nodes.items():
        if str(name).rpartition('/')[2] not in (MANAGER, '**'):
            yield from _of_manager(node)
        elif isinstance(node, dict) and isinstance(node.get('ros__parameters'), dict):
            yield node['ros__parameters']


def controllers_file(path: str) -> str:
    """Check that a file declares controllers."""
    if not path or (problem := parameter_file(path)):
        return problem if path else ''
    if not read_controllers(path).names:
        return f'{path}: {MANAGER} has no controller, a parameter NAME with a "type:" below it'
    return ''


__all__ = ['MANAGER', 'UPDATE_RATE', 'Controllers', 'controllers_file', 'read_controllers']
