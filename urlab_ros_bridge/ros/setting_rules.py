# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the table of parameters demands of values, and how documentation names its types."""

from __future__ import annotations

from dataclasses import Field
import math
import re
from typing import Any

from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.settings import TABLE

_TOPIC = re.compile(r'[A-Za-z]\w*(/[A-Za-z]\w*)*', re.ASCII)
_FRAME = re.compile(r'[A-Za-z_][A-Za-z0-9_./-]*')


def problem(name: str, value: Any) -> str:
    """
    Tell in words what is wrong with a value of the parameter `name`; empty when it is right.

    >>> problem('clock_rate', -1.0)
    'clock_rate is -1.0, must be 0 or more and at most 10000'
    """
    row = TABLE[name]
    rule = row.metadata
    wanted = type(row.default)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        return f'{name} is {value!r}, must be of type {_TYPE_TEXT[_kind(row)]}'
    if rule['choices'] and value not in rule['choices']:
        return f'{name} is {value!r}, must be one of: {", ".join(rule["choices"])}'
    for number in value if wanted is tuple else (value,):
        if isinstance(number, float) and not math.isfinite(number):
            return f'{name} is {value!r}, must be finite'
    if rule['low'] is not None and not rule['low'] <= value <= rule['high']:
        return f'{name} is {value!r}, must be {rule["low"]:g} or more and at most {rule["high"]:g}'
    if rule['frame'] and not _FRAME.fullmatch(value) and (value or rule['frame'] == 'required'):
        return f'{name} is {value!r}, must be a frame name without a leading slash'
    if rule['topic'] and not _TOPIC.fullmatch(value):
        return f'{name} is {value!r}, must be a topic name without a leading slash'
    if rule['length'] and len(value) != rule['length'] and not (len(value) == 1 and value[0] < 0):
        return f'{name} has {len(value)} elements, must have {rule["length"]}'
    return ''


def problems(settings: Settings) -> list[str]:
    """Tell what is wrong with a whole set of values: each by itself, then their combination."""
    found = [
        text for name, row in TABLE.items() if (text := problem(name, getattr(settings, row.name)))
    ]
    frames = {
        'base_frame': settings.base_frame or 'base_link',
        'footprint_frame': settings.footprint_frame,
        'odom_frame': settings.odom_frame,
        'map_frame': settings.map_frame,
    }
    for name, frame in frames.items():
        twins = [other for other in frames if frames[other] == frame and other > name]
        found += [f'{name} and {other} are both {frame!r}, must differ' for other in twins]
    if len(settings.gps_origin) == 3 and abs(settings.gps_origin[0]) > 90.0:
        found.append(f'gps_origin begins with {settings.gps_origin[0]}, a latitude is within 90')
    if settings.frame_prefix.startswith('/'):
        found.append(f'frame_prefix is {settings.frame_prefix!r}, tf2 takes no leading slash')
    for text in () if settings.grippers in ((), ('auto',)) else settings.grippers:
        if not all(text.partition(':')):
            found.append(f'grippers holds {text!r}, must be NAME:JOINT[,JOINT...]')
    if settings.lockstep_topics != ('',) and not all(settings.lockstep_topics):
        found.append('lockstep_topics holds an empty name; [""] alone: off')
    if not settings.robots or not all(settings.robots):
        found.append('robots holds an empty name; ["auto"] takes all robots')
    return found


_TYPE_TEXT = {
    'bool': 'bool',
    'int': 'integer',
    'float': 'double',
    'str': 'string',
    'strings': 'string[]',
    'floats': 'double[]',
}


def _kind(row: Field) -> str:
    if isinstance(row.default, tuple):
        return 'strings' if isinstance(row.default[0], str) else 'floats'
    return type(row.default).__name__


def kind(name: str) -> str:
    """Return bool, int, float, str, strings or floats."""
    return _kind(TABLE[name])


def type_text(name: str) -> str:
    """Return the type of a parameter as documentation writes it."""
    return _TYPE_TEXT[kind(name)]


def groups() -> dict[str, list[str]]:
    """Return the parameter names of each group, in order of the table."""
    grouped: dict[str, list[str]] = {}
    for name, row in TABLE.items():
        grouped.setdefault(row.metadata['group'], []).append(name)
    return grouped
