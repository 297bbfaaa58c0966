# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The parameters of all features as one class, and what they demand of values.

Declaration on the node, validation, config/bridge.yaml and docs/parameters.md all come from the
`Parameter` rows of a `Settings` class.  No ROS is needed to read it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import make_dataclass
from dataclasses import replace
import difflib
from functools import cache
import math
from typing import Any
from typing import ClassVar
from typing import get_args
from typing import Protocol
from typing import TypeVar

from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import keys_of
from urlab_ros_bridge.schema import problem_of
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.wire.errors import UnknownName

# Headings of the documentation, in its order; other groups come after these.
GROUPS = (
    'Connection',
    'Names',
    'What is published',
    'Covariances',
    'Robot description and markers',
    'Cameras',
    'Commands',
    'Trajectories and control',
    'ros2_control',
    'Lockstep',
    'Bags',
)
# Characters of a text: paths are longer than the texts of most files.
_LONGEST = 4096
_TYPE_TEXTS = {bool: 'bool', int: 'integer', float: 'double', str: 'string'}


@dataclass(frozen=True, slots=True)
class Parameter:
    """
    One parameter of the bridge.

    :ivar name: its ROS name.
    :ivar field: the attribute of `Settings` that holds its value.
    :ivar kind: bool, int, float or str; of a list, that of its elements.
    :ivar default: a tuple for a list.
    """

    name: str
    field: str
    key: Key
    kind: type
    default: Any
    group: str

    @property
    def live(self) -> bool:
        """Return whether it may be changed while the node runs; all others are read-only."""
        return bool(self.key.extra.get('live'))

    @property
    def is_list(self) -> bool:
        """Return whether its value is a list."""
        return isinstance(self.default, tuple)

    @property
    def type_text(self) -> str:
        """Return its type as documentation writes it."""
        return _TYPE_TEXTS[self.kind] + '[]' * self.is_list

    @property
    def range(self) -> tuple[Any, Any] | None:
        """Return the smallest and the largest value, None when it has no range."""
        if math.isinf(self.key.low) or math.isinf(self.key.high):
            return None
        return self.kind(self.key.low), self.kind(self.key.high)

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value, after the name; empty when it is right."""
        text = (
            self._list_problem(value) if self.is_list else problem_of(self.key, self.kind, value)
        )
        return text and f'{self.name}: {text}'

    def _list_problem(self, value: Any) -> str:
        if not isinstance(value, tuple):
            return f'must be of type {self.type_text}, not {shown(value)}'
        element = replace(self.key, check=None)
        for each in value:
            if text := problem_of(element, self.kind, each):
                return f'each element {text}'
        return self.key.check(value) if self.key.check is not None else ''


GroupT = TypeVar('GroupT')


class SettingsReader(Protocol):
    """Returns the values of the parameters that a dataclass declares: `Settings` or a bridge."""

    def __call__(self, kind: type[GroupT]) -> GroupT:
        """Return them as an object of that dataclass."""


class ParameterGroup(Protocol):
    """The fields of a `Feature` that are read here."""

    @property
    def parameters(self) -> type | None:
        """The dataclass whose fields are parameters."""

    @property
    def group(self) -> str:
        """The heading of the parameters in documentation."""

    @property
    def check(self) -> Callable[[Any], Iterable[str]] | None:
        """Returns what is wrong with a combination of values."""


@dataclass(frozen=True)
class Settings:
    """
    The values of all parameters at one moment; a change makes a new object.

    Features add their fields to it (`settings_type`) and read them by the dataclass that declares
    them: ``settings(ClockParameters).clock_rate``.
    """

    TABLE: ClassVar[dict[str, Parameter]] = {}
    CHECKS: ClassVar[tuple[Callable[[Any], Iterable[str]], ...]] = ()

    def __call__(self, kind: type[GroupT]) -> GroupT:
        """Return the values of the parameters that a dataclass declares."""
        made = vars(self).setdefault('_groups', {})
        if kind not in made:
            made[kind] = kind(**{name: getattr(self, name) for name in kind.__annotations__})
        found: GroupT = made[kind]
        return found

    def value(self, name: str) -> Any:
        """
        Return the value of a parameter by its ROS name.

        :raises UnknownName: when there is no such parameter; the message lists similar names.
        """
        row = self.TABLE.get(name)
        if row is None:
            similar = difflib.get_close_matches(name, self.TABLE, n=3, cutoff=0.6)
            raise UnknownName('parameter', name, similar or self.TABLE)
        return getattr(self, row.field)

    def is_on(self, names: Sequence[str]) -> bool:
        """
        Return whether one of some parameters is true; without any: yes.

        :raises UnknownName: when there is no such parameter.
        """
        return not names or any(self.value(name) for name in names)


@cache
def settings_type(features: tuple[ParameterGroup, ...]) -> type[Settings]:
    """
    Return the class with the parameters of all features; the same one for the same features.

    :raises ValueError: when two features have a parameter of one name.
    """
    rows: list[Parameter] = []
    for feature in features:
        if feature.parameters is not None:
            rows += _parameters(feature.parameters, feature.group)
    names = [row.name for row in rows] + [row.field for row in rows if row.field != row.name]
    if twins := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f'two features have the parameter {twins[0]!r}')
    groups = list(dict.fromkeys((*GROUPS, *(row.group for row in rows))))
    rows.sort(key=lambda row: groups.index(row.group))
    return make_dataclass(
        'Settings',
        [(row.field, Any, field(default=row.default)) for row in rows],
        bases=(Settings,),
        frozen=True,
        namespace={
            'TABLE': {row.name: row for row in rows},
            'CHECKS': tuple(feature.check for feature in features if feature.check is not None),
            '__doc__': Settings.__doc__,
            '__module__': __name__,
        },
    )


def _parameters(declared: type, group: str) -> Iterable[Parameter]:
    for name, (key, kind, item) in keys_of(declared).items():
        parts = get_args(kind)
        yield Parameter(
            key.extra.get('name', name),
            name,
            replace(key, longest=max(key.longest, _LONGEST)),
            parts[0] if parts else kind,
            item.default,
            key.extra.get('group', group),
        )


def problems(settings: Settings) -> list[str]:
    """Return what is wrong with a whole set: each value by itself, then their combination."""
    found = [
        text
        for row in settings.TABLE.values()
        if (text := row.problem(getattr(settings, row.field)))
    ]
    for check in settings.CHECKS:
        try:
            found += check(settings)
        except Exception as error:
            name = f'{check.__module__}.{check.__qualname__}'
            found.append(f'{name} failed: {type(error).__name__}: {error}')
    return found


def groups(settings: type[Settings]) -> dict[str, list[Parameter]]:
    """Return the parameters of each group, in order of the features."""
    grouped: dict[str, list[Parameter]] = {}
    for row in settings.TABLE.values():
        grouped.setdefault(row.group, []).append(row)
    return grouped
