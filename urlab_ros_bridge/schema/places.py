# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Values with their place, so that every mistake is reported where it was made."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
import reprlib
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.wire.errors import UrlabError

MAX_KEY = 200  # characters


class SchemaError(UrlabError, ValueError):
    """A value cannot be used; the message names the source, the path of the key and the value."""

    def __init__(self, source: Path | str, path: str, problem: str) -> None:
        self.source = source
        self.path = path
        self.problem = problem
        super().__init__(': '.join(str(part) for part in (source, path, problem) if str(part)))


def shown(value: object) -> str:
    """Return a short repr of any value, however large or self-referring it is."""
    short = reprlib.Repr()
    short.maxlevel = 2
    short.maxstring = short.maxother = 60
    try:
        return short.repr(value)
    except ValueError:  # an int with more digits than Python prints
        return f'a huge {type(value).__name__}'


def hint(name: object, valid: Iterable[str]) -> str:
    """
    Return the text that lists the valid names, after the nearest one if there is one.

    >>> hint('kid', ['kind', 'left'])
    "did you mean 'kind'? (valid: kind, left)"
    """
    names = list(valid)
    near = get_close_matches(shown(name).strip("'"), names, n=1, cutoff=0.5)
    listed = f'valid: {", ".join(names)}'
    return f'did you mean {near[0]!r}? ({listed})' if near else listed


class Place(NamedTuple):
    """
    One plain value and its place; a tuple, as there is one for each value that is read.

    :ivar path: such as `articulations[0].pose`, empty for the whole.
    :ivar source: the file, or what else the value came from; a relative path in the value starts
        at the folder of the file.
    :ivar error: makes the errors, of source, path and problem: the class of them.
    """

    value: Any
    path: str = ''
    source: Path | str = ''
    error: Callable[[Path | str, str, str], Exception] = SchemaError

    def fail(self, problem: str) -> Exception:
        """Return the error for this place; the caller raises it."""
        return self.error(self.source, self.path, problem)

    def below(self, key: str) -> str:
        """Return the path of a key of this value."""
        return f'{self.path}.{key}' if self.path else key

    def mapping(self, *valid: str) -> dict[str, Place]:
        """
        Return the places of a mapping by name; null counts as empty.

        With names in `valid` any other key is an error that names the nearest valid one.
        """
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.fail(f'must be a mapping, not {shown(self.value)}')
        found = {}
        for name, value in self.value.items():
            if not isinstance(name, str) or not 0 < len(name) <= MAX_KEY:
                wanted = f'must be a string of 1 to {MAX_KEY} characters'
                raise self.fail(f'the key {shown(name)} {wanted}')
            if valid and name not in valid:
                raise self.fail(f'unknown key {shown(name)}; {hint(name, valid)}')
            path = f'{self.path}.{name}' if self.path else name
            found[name] = Place(value, path, self.source, self.error)
        return found

    def child(self, name: str) -> Place:
        """Return the place of a key that must be there and not null."""
        if not isinstance(self.value, dict):
            raise self.fail(f'must be a mapping, not {shown(self.value)}')
        if self.value.get(name) is None:
            raise self.fail(f'the key {name!r} is missing')
        return self._replace(value=self.value[name], path=self.below(name))

    def items(self) -> Iterator[Place]:
        """Iterate over the places of a list; null counts as empty."""
        if self.value is None:
            return
        if not isinstance(self.value, (list, tuple)):
            raise self.fail(f'must be a list, not {shown(self.value)}')
        for index, value in enumerate(self.value):
            yield Place(value, f'{self.path}[{index}]', self.source, self.error)
