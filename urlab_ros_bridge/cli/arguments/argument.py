# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Arguments: dataclasses with fields made by `schema.key`, parsed from texts.

The command line, launch arguments and docs/commands.md come from the same fields.  A field
`step_mode` is `--step-mode` on the command line and `step_mode:=live` in launch.  A key may have,
in addition to the attributes of `schema.Key`:

- `metavar`: placeholder in the help;
- `shipped`: file of the package that is the default (`config/bridge.yaml`);
- `by_world`: file that replaces `shipped` for a bundled world that has one
  (`config/rviz/{world}.rviz`);
- `path`: whether it is a path, in which ~ is the home folder;
- `separator`: the option may be repeated; the texts are joined by it, as launch takes them;
- `positional`: the value has no flag;
- `hidden`: used only by programs of this package; omitted from help and documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import Field
from dataclasses import MISSING
import enum
from inspect import get_annotations
from os.path import expanduser
import re
from typing import Any
from typing import TypeVar

from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.schema import keys_of
from urlab_ros_bridge.schema import problem_of
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.schema.keys import without_none

A = TypeVar('A', bound='Arguments')

TRUE_WORDS = ('true', '1', 'yes', 'on')
FALSE_WORDS = ('false', '0', 'no', 'off')
_WHOLE_NUMBER = re.compile(r'[+-]?[0-9]{1,18}')


class Spelling(enum.Enum):
    """The syntax of arguments, for messages: that of the command line or of launch."""

    OPTION = '--{} {}'
    LAUNCH = '{}:={}'

    def named(self, name: str) -> str:
        """Return the name of an argument: `--step-mode` or `step_mode`; `with_` is `--with`."""
        return name if self is Spelling.LAUNCH else '--' + name.rstrip('_').replace('_', '-')

    def with_value(self, name: str, value: object) -> str:
        """Return an argument with its value: `--port-offset 10` or `port_offset:=10`."""
        return f'{self.named(name)}{":=" if self is Spelling.LAUNCH else " "}{value}'


class Arguments:
    """
    Base of all dataclasses of arguments; they are combined by inheritance.

    A class may have a method `check`, which raises `KeyProblem` when values contradict each other.
    """

    def __post_init__(self) -> None:
        for kind in type(self).__mro__:
            check = vars(kind).get('check')
            if callable(check):  # or the default of an argument --check
                check(self)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: a field of a class of arguments, with its key."""

    name: str
    key: Key
    kind: type
    default: Any

    @property
    def flag(self) -> str:
        """Return the option of the command line, `--step-mode`."""
        return Spelling.OPTION.named(self.name)

    @property
    def text(self) -> str:
        """Return the description, one or two sentences."""
        return self.key.text

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the valid choices, empty for any value."""
        return self.key.choices

    @property
    def is_switch(self) -> bool:
        """Return whether the argument is boolean."""
        return self.kind is bool

    @property
    def is_required(self) -> bool:
        """Return whether it has no default."""
        return self.default is MISSING

    @property
    def is_positional(self) -> bool:
        """Return whether the value has no flag."""
        return bool(self.key.extra.get('positional'))

    @property
    def is_hidden(self) -> bool:
        """Return whether help and documentation omit it."""
        return bool(self.key.extra.get('hidden'))

    @property
    def is_path(self) -> bool:
        """Return whether the value is a path, in which ~ is the home folder."""
        return bool(self.key.extra.get('path'))

    @property
    def separator(self) -> str:
        """Return the separator of the texts of a repeatable option, or empty."""
        return str(self.key.extra.get('separator', ''))

    @property
    def shipped(self) -> str:
        """Return the file of the package that is the default, or empty."""
        return str(self.key.extra.get('shipped', ''))

    @property
    def by_world(self) -> str:
        """Return the pattern of the files of bundled worlds, or empty."""
        return str(self.key.extra.get('by_world', ''))

    @property
    def placeholder(self) -> str:
        """Return the placeholder of the value in the help: `PORT`, `live|direct`."""
        if self.is_switch:
            return 'true|false'
        return self.key.extra.get('metavar') or '|'.join(self.choices) or self.name.upper()

    def initial(self) -> Any:
        """Return the default, with a shipped file as an absolute path."""
        if self.by_world or not self.shipped:
            return None if self.is_required else self.default
        return str(shipped_file(self.shipped))

    def file_for(self, values: Mapping[str, object]) -> str:
        """
        Return the given file, else that of the bundled world, else the shipped one.

        :param values: all arguments by name.
        """
        if values[self.name]:
            return str(values[self.name])
        if not (values['model'] or values.get('robot')):
            own = shipped_file(self.by_world.format(world=values['world']))
            if own.is_file():
                return str(own)
        return str(shipped_file(self.shipped))

    def shown_default(self) -> str:
        """Return the default for help and documentation; empty when there is none."""
        if self.by_world:
            own = self.by_world.format(world='WORLD')
            return f'{own} of the package if it exists, else {self.shipped}'
        if self.shipped:
            return f'{self.shipped} of the package'
        return '' if self.is_required or self.default is None else as_text(self.default)

    def value_of(self, text: str, spelling: Spelling = Spelling.OPTION) -> Any:
        """
        Parse a value.

        :raises BadArgument: when the text is not a valid value.
        """
        value = _from_text(self.kind, expanduser(text) if self.is_path else text)
        problem = problem_of(self.key, self.kind, value)
        if self.is_path and not _is_utf8(value):
            problem = f'{shown(value)} is not UTF-8, which MuJoCo and YAML files need'
        if problem:
            raise BadArgument(self.named(spelling), problem)
        return value

    def named(self, spelling: Spelling) -> str:
        """Return its name in messages: `--step-mode`, or DIR for a value without a flag."""
        if self.is_positional and spelling is Spelling.OPTION:
            return self.placeholder
        return spelling.named(self.name)


def as_text(value: object) -> str:
    """
    Format a value for the command line and launch.

    >>> as_text(True), as_text(5559)
    ('true', '5559')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def arguments_of(section: type[Arguments]) -> dict[str, Argument]:
    """Return the arguments of a class by name; those of its bases, from left to right, first."""
    described: type = section
    known = keys_of(described)
    found = {}
    for name in _names(section):
        key, kind, item = known[name]
        found[name] = Argument(name, key, without_none(kind)[0], _default(item))
    return found


def titled_groups(section: type[Arguments]) -> Iterator[tuple[str, list[str]]]:
    """
    Yield the names of arguments in groups, each with a title.

    A group is a class that declares arguments; its title is its docstring, empty for the class of
    a command itself.
    """
    for base in section.__bases__:
        if issubclass(base, Arguments):
            yield from titled_groups(base)
    own = list(get_annotations(section))
    if own:
        title = (section.__doc__ or '').partition('\n')[0].rstrip('.')
        yield '' if title.startswith('The arguments of') else title, own


def read_arguments(
    section: type[A], texts: Mapping[str, str], spelling: Spelling = Spelling.OPTION
) -> A:
    """
    Parse arguments; those that are not given have their defaults.

    :raises UnknownArgument: when a name is unknown.
    :raises BadArgument: when a value is invalid, a required argument is missing, or two arguments
        contradict each other.
    """
    known = arguments_of(section)
    for name in texts:
        if name not in known:
            raise UnknownArgument(spelling.named(name), map(spelling.named, known))
    for name, argument in known.items():
        if argument.is_required and name not in texts:
            raise BadArgument(argument.named(spelling), f'is missing: {argument.text}')
    values = {name: known[name].value_of(text, spelling) for name, text in texts.items()}
    shipped = {
        name: argument.initial()
        for name, argument in known.items()
        if argument.shipped and not values.get(name)
    }
    try:
        return section(**{**values, **shipped})
    except KeyProblem as problem:
        raise BadArgument(known[problem.name].named(spelling), str(problem)) from None


def _is_utf8(text: str) -> bool:
    """Return whether the bytes of an argument were UTF-8; other bytes are surrogates (PEP 383)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _names(section: type[Arguments]) -> list[str]:
    return list(dict.fromkeys(name for _, names in titled_groups(section) for name in names))


def _default(item: Field) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _from_text(kind: type, text: str) -> Any:
    """Return the value of a type, or the text itself when it cannot be converted."""
    word = text.strip().lower()
    if kind is bool and word in TRUE_WORDS + FALSE_WORDS:
        return word in TRUE_WORDS
    if kind is int and _WHOLE_NUMBER.fullmatch(word):
        return int(word)
    if kind is float:
        try:
            return float(word)
        except ValueError:
            return text
    return text
