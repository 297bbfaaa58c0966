# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Documentation made from the tables of the bridge.

``python -m urlab_ros_bridge.ros.docs yaml`` prints config/bridge.yaml, and ``... markdown`` the
parameter table of docs/bridge.md.
"""

from __future__ import annotations

import json
import sys
import textwrap
from typing import Any

from urlab_ros_bridge.ros.setting_rules import groups
from urlab_ros_bridge.ros.setting_rules import type_text
from urlab_ros_bridge.ros.settings import TABLE


def _range_text(name: str) -> str:
    rule = TABLE[name].metadata
    if rule['choices']:
        return ', '.join(rule['choices'])
    if rule['low'] is not None:
        return f'{rule["low"]:g} to {rule["high"]:g}'
    return ''


def _value_text(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def parameters_markdown() -> str:
    """Return the parameter tables of docs/bridge.md, one for each group."""
    parts = []
    for group, names in groups().items():
        rows = [
            '| Parameter | Type | Default | Range | Live | Meaning |',
            '|---|---|---|---|---|---|',
        ]
        for name in names:
            rule = TABLE[name].metadata
            cells = (
                f'`{name}`',
                type_text(name),
                f'`{_value_text(TABLE[name].default)}`',
                _range_text(name),
                'yes' if rule['live'] else '',
                rule['text'],
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


def parameters_yaml(node: str = '/**') -> str:
    """Return a parameter file with every parameter at its default and its meaning beside it."""
    lines = [
        '# Every parameter of the bridge at its default.',
        '# Made by: python -m urlab_ros_bridge.ros.docs yaml',
        f'{node}:',
        '  ros__parameters:',
    ]
    opened: list[str] = []
    for group, names in groups().items():
        lines += ['', f'    # -- {group} --']
        for name in names:
            nested, opened = _nested_lines(name, opened)
            lines += nested
            indent = '  ' * (1 + name.count('.')) + '  '
            text = TABLE[name].metadata['text']
            if choices := _range_text(name):
                text += f' ({choices})'
            lines += textwrap.wrap(
                text, 96, initial_indent=indent + '# ', subsequent_indent=indent + '# '
            )
            lines.append(f'{indent}{name.rpartition(".")[2]}: {_value_text(TABLE[name].default)}')
    return '\n'.join(lines) + '\n'


def main(argv: list[str] | None = None) -> int:
    """Print one of the pages."""
    pages = {'yaml': parameters_yaml, 'markdown': parameters_markdown}
    wanted = (argv if argv is not None else sys.argv[1:])[:1]
    if not wanted or wanted[0] not in pages:
        print(f'usage: python -m urlab_ros_bridge.ros.docs {"|".join(pages)}', file=sys.stderr)
        return 2
    print(pages[wanted[0]](), end='')
    return 0


if __name__ == '__main__':
    sys.exit(main())
