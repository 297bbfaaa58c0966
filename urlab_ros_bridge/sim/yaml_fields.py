# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A YAML file as checked fields: every access knows its key path and says what it wants.

`read_fields` is total: any file gives a `Field` or a `SidecarError`.  The size is bounded before
the file is read, and so are merge keys, which could otherwise multiply a small file.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
import math
from pathlib import Path
import re
import reprlib
from typing import Any
from typing import NoReturn

import yaml

from urlab_ros_bridge.wire.errors import UrlabError

MAX_BYTES = 1_000_000
MAX_KEYS = 4096
MAX_PATH = 1024  # characters of a file's path

# YAML 1.1 reads "1e-6" as text (it wants a dot); YAML 1.2 and every reader mean the number.
_SCIENTIFIC = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+')


class SidecarError(UrlabError, ValueError):
    """A sidecar cannot be used; the message names the file, the key path and the bad value."""

    def __init__(self, source: Path | str, path: str, problem: str) -> None:
        self.source = source
        self.path = path
        self.problem = problem
        super().__init__(': '.join(str(part) for part in (source, path, problem) if str(part)))


def shown(value: object) -> str:
    """Return a short repr of any YAML value, however large or self-referring it is."""
    short = reprlib.Repr()
    short.maxlevel = 2
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


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader that refuses duplicate keys and exploding merge keys."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    self.refuse(f'the key {shown(key.value)} appears twice', key)
                seen.add(key.value)
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > MAX_KEYS:
            self.refuse(f'a mapping has more than {MAX_KEYS} keys', node)

    def refuse(self, problem: str, node: yaml.Node) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


@dataclass(frozen=True, slots=True)
class Field:
    """One YAML value with its place: `source` the file, `path` such as articulations[0].pose."""

    value: Any
    path: str
    source: Path

    def fail(self, problem: str) -> SidecarError:
        """Return the error for this field; the caller raises it."""
        return SidecarError(self.source, self.path, problem)

    def mapping(self, *valid: str) -> dict[str, Field]:
        """
        Return the fields of a mapping by name; null counts as empty.

        With names in `valid` any other key is an error that names the nearest valid one.
        """
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.fail(f'must be a mapping, not {shown(self.value)}')
        found = {}
        for key, value in self.value.items():
            if not isinstance(key, str) or not 0 < len(key) <= 200:
                raise self.fail(f'the key {shown(key)} must be a text of 1 to 200 characters')
            if valid and key not in valid:
                raise self.fail(f'unknown key {shown(key)}; {hint(key, valid)}')
            found[key] = Field(value, self._below(key), self.source)
        return found

    def child(self, key: str) -> Field:
        """Return the field of a mapping that must be there and not null."""
        if not isinstance(self.value, dict):
            raise self.fail(f'must be a mapping, not {shown(self.value)}')
        if self.value.get(key) is None:
            raise self.fail(f'the key {key!r} is missing')
        return Field(self.value[key], self._below(key), self.source)

    def _below(self, key: str) -> str:
        return f'{self.path}.{key}' if self.path else key

    def items(self) -> Iterator[Field]:
        """Iterate over the fields of a list; null counts as empty."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.fail(f'must be a list, not {shown(self.value)}')
        for index, value in enumerate(self.value):
            yield Field(value, f'{self.path}[{index}]', self.source)

    def text(self, longest: int = 200) -> str:
        """Return a text of 1 to `longest` characters."""
        if not isinstance(self.value, str) or not 0 < len(self.value) <= longest:
            raise self.fail(
                f'must be a text of 1 to {longest} characters, not {shown(self.value)}'
            )
        return self.value

    def texts(self) -> list[str]:
        """Return one or more texts."""
        found = [field.text() for field in self.items()]
        if not found:
            raise self.fail('must be a list of one name or more')
        return found

    def choice(self, valid: Iterable[str]) -> str:
        """Return one of the valid words."""
        names = list(valid)
        if not isinstance(self.value, str) or self.value not in names:
            raise self.fail(f'{shown(self.value)} is unknown; {hint(self.value, names)}')
        return self.value

    def number(
        self, low: float = -math.inf, high: float = math.inf, *, above: float | None = None
    ) -> float:
        """Return a finite number in [low, high], and greater than `above` if given."""
        number = _as_number(self.value)
        if low <= number <= high and math.isfinite(number) and (above is None or number > above):
            return number
        wanted = 'a finite number'
        if above is not None:
            wanted += f' > {above:g}'
        elif low > -math.inf:
            wanted += f' >= {low:g}'
        if high < math.inf:
            wanted += f' and <= {high:g}'
        raise self.fail(f'must be {wanted}, not {shown(self.value)}')

    def numbers(self, length: int, low: float = -math.inf) -> tuple[float, ...]:
        """Return exactly `length` finite numbers."""
        fields = list(self.items())
        if len(fields) != length:
            raise self.fail(f'must be a list of {length} numbers, not {shown(self.value)}')
        return tuple(field.number(low) for field in fields)

    def integer(self, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int)
            or (not low <= self.value <= high)
        ):
            raise self.fail(
                f'must be a whole number from {low} to {high}, not {shown(self.value)}'
            )
        return self.value

    def file(self) -> Path:
        """Return an existing file; a relative path starts at the folder of the YAML file."""
        folder = self.source.parent
        path = folder / self.text(MAX_PATH)
        if not _is_file(path):
            there = sorted(file.name for file in folder.glob('*.xml'))[:24]
            raise self.fail(
                f'there is no file {shown(self.value)}; '
                f'{hint(self.value, there) if there else "the folder has no .xml"}'
            )
        return path.resolve()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _as_number(value: object) -> float:
    """Return the float, or nan for what is no number."""
    if isinstance(value, str) and len(value) < 64 and _SCIENTIFIC.fullmatch(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def read_fields(path: Path) -> Field:
    """
    Return the content of a YAML file as its top field.

    Raises
    ------
    SidecarError
        The file cannot be read, is larger than 1 MB or is not YAML.
    """
    try:
        with path.open('rb') as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SidecarError(path, '', f'cannot be read: {error}') from error
    if len(data) > MAX_BYTES:
        raise SidecarError(path, '', f'is larger than {MAX_BYTES} bytes')
    try:
        # _Loader is a SafeLoader: it builds plain values only.
        return Field(yaml.load(data, Loader=_Loader), '', path)
    except RecursionError as error:
        raise SidecarError(path, '', 'is nested too deeply') from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError) as error:
        # PyYAML lets the bare errors of int(), datetime and its regular expressions through.
        raise SidecarError(path, '', f'is not valid YAML: {error}') from error
