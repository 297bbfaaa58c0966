# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a controller_manager: which controllers it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from urlab_ros_bridge.cli.arguments.checks import parameter_file
from urlab_ros_bridge.schema import read_yaml

MANAGER = 'controller_manager'


def controller_names(path: str) -> list[str]:
    """
    Return the controllers of controller_manager, whatever its namespace, in order of the file.

    :raises SchemaError: when the file is not YAML.
    """
    return [
        name
        for parameters in _of_manager(read_yaml(Path(path)).value)
        for name, value in parameters.items()
        if isinstance(value, dict) and 'type' in value
    ]


def _of_manager(nodes: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(nodes, dict):
        return
    for name, node in nodes.items():
        parameters = node.get('ros__parameters') if isinstance(node, dict) else None
        if not isinstance(parameters, dict):
            yield from _of_manager(node)
        elif str(name).rpartition('/')[2] in (MANAGER, '**'):
            yield parameters


def controllers_file(path: str) -> str:
    """Check that a file declares controllers."""
    if not path or (problem := parameter_file(path)):
        return problem if path else ''
    if not controller_names(path):
        return f'{path}: {MANAGER} has no controller, a parameter NAME with a "type:" below it'
    return ''


__all__ = ['MANAGER', 'controller_names', 'controllers_file']
