# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Keys: what a field takes, declared once."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import Field
from dataclasses import field
from dataclasses import fields
from functools import cache
import math
import re
import types
from typing import Any
from typing import get_args
from typing import get_origin
from typing import get_type_hints
from typing import Union

from urlab_ros_bridge.schema.places import hint
from urlab_ros_bridge.schema.places import Place
from urlab_ros_bridge.schema.places import shown

# YAML 1.1 reads "1e-6" as text (it wants a dot); YAML 1.2 and every reader mean the number.
_SCIENTIFIC = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+')
_NO_DEFAULT: Any = object()


@dataclass(frozen=True, slots=True)
class Key:
    """
    What one field takes.

    :ivar text: what it does, one or two sentences, for documentation and `--help`.
    :ivar unit: of a number.
    :ivar choices: the values it takes, empty for any.
    :ivar low: smallest number, `high` the largest, `above` one that it must exceed.  They hold for
        each element of a list of numbers.
    :ivar length: elements of a list, None for any number of them.
    :ivar longest: characters of a text.
    :ivar check: returns what is wrong with a value of the right type, '' when nothing is.
    :ivar parse: reads the field itself from its place, instead of `read`.
    :ivar extra: what only one kind of user of the description needs, such as a flag or a group.
    """

    text: str = ''
    unit: str = ''
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    length: int | None = None
    longest: int = 200
    check: Callable[[Any], str] | None = None
    parse: Callable[[Place], Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def key(
    default: Any = _NO_DEFAULT, text: str = '', *, factory: Callable[[], Any] | None = None,
    repr: bool = True, compare: bool = True, **rules: Any,
) -> Any:  # fmt: skip
    """
    Return a dataclass field with its description; without a default the key is required.

    :param factory: makes the default, for a nested section or a list.
    :param repr: whether the field is a part of the section's repr, `compare` of its equality.
    :param rules: the other attributes of `Key`; those it does not have go to `extra`.
    """
    known = {name: rules.pop(name) for name in list(rules) if name in Key.__dataclass_fields__}
    options: dict[str, Any] = {'repr': repr, 'compare': compare}
    options['metadata'] = {'key': Key(text=text, extra=rules, **known)}
    if factory is not None:
        return field(default_factory=factory, **options)
    if default is _NO_DEFAULT:
        return field(**options)
    return field(default=default, **options)


@cache
def keys_of(section: type) -> dict[str, tuple[Key, Any, Field[Any]]]:
    """Return key, type and dataclass field of each field of a section, by name, in order."""
    hints = get_type_hints(section)
    return {
        item.name: (item.metadata.get('key', Key()), hints[item.name], item)
        for item in fields(section)
        if item.init
    }


def without_none(kind: Any) -> tuple[Any, bool]:
    """Return a type without `| None`, and whether it had that."""
    if get_origin(kind) in (Union, types.UnionType):
        parts = [part for part in get_args(kind) if part is not type(None)]
        if len(parts) == 1:
            return parts[0], len(parts) < len(get_args(kind))
    return kind, False


def type_name(kind: Any) -> str:
    """
    Return a type as users read it.

    >>> type_name(tuple[float, ...])
    'list of numbers'
    """
    kind, _ = without_none(kind)
    if get_origin(kind) in (list, tuple):
        return f'list of {type_name(get_args(kind)[0])}s'
    if get_origin(kind) is dict:
        return 'mapping'
    names = {bool: 'boolean', int: 'integer', float: 'number', str: 'string'}
    return names.get(kind, 'mapping')


def as_number(value: object) -> float:
    """Return the float, or nan for what is not a number."""
    if isinstance(value, str) and len(value) < 64 and _SCIENTIFIC.fullmatch(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def problem_of(key: Key, kind: Any, value: object) -> str:
    """
    Return what is wrong with a plain value (no list, no section); '' when nothing is.

    >>> problem_of(Key(low=0.0, unit='m'), float, -1)
    'must be a finite number >= 0 (m), not -1'
    """
    wrong = ''
    if kind is bool:
        wrong = '' if isinstance(value, bool) else 'must be true or false'
    elif kind in (int, float):
        wrong = _number_problem(key, kind, value)
    elif not isinstance(value, kind):
        wrong = f'must be a {type_name(kind)}'
    elif key.choices and value not in key.choices:
        return f'{shown(value)} is unknown; {hint(value, key.choices)}'
    elif isinstance(value, str) and len(value) > key.longest:
        wrong = f'must be a string of at most {key.longest} characters'
    if wrong:
        return f'{wrong}, not {shown(value)}'
    return key.check(value) if key.check is not None else ''


def _number_problem(key: Key, kind: type, value: object) -> str:
    number = as_number(value)
    whole = kind is float or (isinstance(value, int) and not isinstance(value, bool))
    within = key.low <= number <= key.high and (number > key.above or key.above == -math.inf)
    if whole and math.isfinite(number) and within:
        return ''
    wanted = 'must be a whole number' if kind is int else 'must be a finite number'
    limits = []
    if key.above > -math.inf:
        limits.append(f'> {key.above:g}')
    elif key.low > -math.inf:
        limits.append(f'>= {key.low:g}')
    if key.high < math.inf:
        limits.append(f'<= {key.high:g}')
    parts = (wanted, ' and '.join(limits), key.unit and f'({key.unit})')
    return ' '.join(part for part in parts if part)
