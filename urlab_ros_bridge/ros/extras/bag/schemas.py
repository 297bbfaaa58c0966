# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Message definitions from the .msg files that every ROS package installs.

A schema in the encoding `ros2msg` is the .msg file, followed by those of all types in it, each
after a line of equal signs and a line ``MSG: package/Type`` (MCAP, "Well-known schema encodings").
"""

from __future__ import annotations

from functools import cache
import json
from pathlib import Path
import re

from ament_index_python.packages import get_package_share_directory
from ament_index_python.packages import PackageNotFoundError

from urlab_ros_bridge.ros.extras.bag.errors import SchemaMissing

_RULE = '=' * 80
# The type at the start of a line, without bounds and array brackets.
_FIELD = re.compile(r'\s*(?P<type>[A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+[A-Za-z]')
_INTEGERS = (f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64))
_BASIC = frozenset(('bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring', *_INTEGERS))


@cache
def schema_of(kind: str) -> str:
    """
    Return the definition of a message type and of all types that it uses.

    :param kind: package/msg/Type.
    :raises SchemaMissing: when a file is not installed.
    """
    parts: list[str] = []
    waiting, seen = [kind], {kind}
    while waiting:
        each = waiting.pop(0)
        text = _installed(each, 'msg')
        package, _, name = each.split('/')
        parts.append(text if not parts else f'MSG: {package}/{name}\n{text}')
        for used in _types_in(text, package):
            if used not in seen:
                seen.add(used)
                waiting.append(used)
    return f'\n{_RULE}\n'.join(parts)


@cache
def type_hash_of(kind: str) -> str:
    """Return the hash of a type (REP-2011, ``RIHS01_...``); empty where it is not installed."""
    try:
        description = json.loads(_installed(kind, 'json'))
    except (SchemaMissing, ValueError):
        return ''
    for row in description.get('type_hashes', ()):
        if row.get('type_name') == kind:
            return str(row.get('hash_string', ''))
    return ''


def _installed(kind: str, ending: str) -> str:
    package, folder, name = kind.split('/')
    try:
        share = Path(get_package_share_directory(package))
        return (share / folder / f'{name}.{ending}').read_text(encoding='utf-8')
    except (PackageNotFoundError, OSError):
        raise SchemaMissing(kind) from None


def _types_in(text: str, package: str) -> list[str]:
    """Return the message types in a definition, as package/msg/Type."""
    found = []
    for line in text.splitlines():
        match = _FIELD.match(line.partition('#')[0])
        if match is None or match['type'] in _BASIC:
            continue
        name = match['type']
        if '/' not in name:
            name = f'{package}/{name}'
        # A type of another package may have the part /msg.
        start, _, last = name.rpartition('/')
        found.append(f'{start.removesuffix("/msg")}/msg/{last}')
    return found
