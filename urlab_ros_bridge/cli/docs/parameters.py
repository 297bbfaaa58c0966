# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""config/bridge.yaml and the tables of docs/parameters.md, from the rows of a `Settings` class."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from urlab_ros_bridge.ros.parameters.settings import groups
from urlab_ros_bridge.ros.parameters.settings import Parameter
from urlab_ros_bridge.ros.parameters.settings import Settings


def _range_text(row: Parameter) -> str:
    if row.key.choices:
        return ', '.join(row.key.choices)
    return f'{row.key.low:g} to {row.key.high:g}' if row.range is not None else ''


def _value_text(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def parameters_markdown(settings: type[Settings]) -> str:
    """Return the tables of docs/parameters.md, one for each group."""
    parts = []
    for group, found in groups(settings).items():
        rows = [
            '| Parameter | Default | Range | Live | Meaning |',
            '|---|---|---|---|---|',
        ]
        for row in found:
            cells = (
                f'`{row.name}`',
                f'`{_value_text(row.default)}`',
                _range_text(row),
                'yes' if row.live else '',
                row.key.text,
            )
            rows.append('| ' + ' | '.join(cells) + ' |')
        parts.append(f'### {group}\n\n' + '\n'.join(rows) + '\n')
    return '\n'.join(parts)


def _nested_lines(name: str, opened: list[str]) -> tuple[list[str], list[str]]:
    """Return the YAML lines that open the groups of a dotted name, and the groups now open."""
    path = name.split('.')[:-1]
    lines = [
        '  ' * (2 + depth) + f'{key}:'
        for depth, key in enumerate(path)
        if opened[: depth + 1] != path[: depth + 1]
    ]
    return lines, path


def parameters_yaml(settings: type[Settings]) -> str:
    """Return a parameter file with every parameter at its default and its meaning beside it."""
    lines = [
        '# Every parameter of the bridge at its default.',
        '# Made by `make docs` from the features of the bridge.',
        '/**:',
        '  ros__parameters:',
    ]
    opened: list[str] = []
    for group, rows in groups(settings).items():
        lines += ['', f'    # -- {group} --']
        for row in rows:
            nested, opened = _nested_lines(row.name, opened)
            lines += nested
            indent = '  ' * (1 + row.name.count('.')) + '  '
            text = row.key.text
            if choices := _range_text(row):
                text += f' ({choices})'
            lines += textwrap.wrap(
                text, 96, initial_indent=indent + '# ', subsequent_indent=indent + '# '
            )
            lines.append(f'{indent}{row.name.rpartition(".")[2]}: {_value_text(row.default)}')
    return '\n'.join(lines) + '\n'
