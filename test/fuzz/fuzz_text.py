# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
YAML texts from a corpus, changed as texts: lines, indentation, values and bytes.

Most changes of bytes end in the parser.  Here an input is a few entries of a file with all that
they stand in, changed as lines: it has the depth and the keys of the file, and is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import random
import re

from fuzz_mutation import Mutator

_VALUES = (
    '', 'null', '~', 'true', 'no', '0', '-1', '1e309', '.nan', '-.inf', '0x7f', '0o7', '1_0',
    '18446744073709551616', "''", '"\\0"', '"\\ud800"', 'a', '../../x', '/etc/passwd', '[]', '{}',
    '[[]]', '[1, 2, 3]', '[1, 0, 0, 0]', '{pos: [0, 0, 0]}', '2001-01-01', '!!binary aGk=',
    '!!set {a, b}', '!!python/object:os.system x', '&a [*a]', '*a', '|', '>-', 'rover.xml',
)  # fmt: skip
_MOST_LINES = 14
_KEY = re.compile(r'^(\s*(?:- )?)([\w./-]+)(:\s*)(.*)$')


class TextMutator:
    """A seeded source of inputs: the same seed gives the same inputs."""

    def __init__(self, corpus: Sequence[bytes], words: Sequence[bytes], seed: int) -> None:
        texts = [data.decode('utf-8', 'replace') for data in corpus]
        self._texts = [[line for line in text.splitlines() if _says(line)] for text in texts]
        self._texts = [lines for lines in self._texts if lines] or [['']]
        found = (_KEY.match(line) for lines in self._texts for line in lines)
        pairs = [(match[2], match[4]) for match in found if match]
        self._keys = sorted({key for key, _ in pairs}) or ['a']
        self._values = [*_VALUES, *sorted({value for _, value in pairs})]
        self._random = random.Random(seed)
        self._bytes = Mutator(corpus, words, seed + 1)

    def inputs(self, count: int) -> Iterator[bytes]:
        """Yield so many inputs."""
        for _ in range(count):
            yield self.one()

    def one(self) -> bytes:
        """Return an input: an excerpt of a text, changed as lines and, one in three, as bytes."""
        chance = self._random
        lines = self._excerpt(chance.choice(self._texts))
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 5))):
            self._change(lines)
        data = '\n'.join(lines).encode('utf-8', 'surrogatepass') + b'\n'
        return self._bytes.changed(data) if chance.random() < 0.33 else data

    def _excerpt(self, lines: Sequence[str]) -> list[str]:
        """Return some entries and the keys above them; seldom the whole text."""
        chance = self._random
        if len(lines) <= _MOST_LINES or chance.random() < 0.02:
            return list(lines)
        kept: set[int] = set()
        for _ in range(chance.choice((1, 1, 2, 3))):
            at = chance.randrange(len(lines))
            kept.update(_above(lines, at))
            end = at + chance.choice((1, 2, 4, 8))
            kept.update(range(at, min(end, len(lines))))
        for at in list(kept):
            kept.update(_above(lines, at))
        return [lines[at] for at in sorted(kept)][:_MOST_LINES]

    def _change(self, lines: list[str]) -> None:
        chance = self._random
        at = chance.randrange(len(lines) + 1)
        kind = chance.randrange(9)
        if at == len(lines) or kind == 0:
            lines.insert(at, self._line(lines))
        elif kind == 1 and len(lines) > 1:
            del lines[at : at + chance.choice((1, 1, 2, 5))]
        elif kind == 2:
            lines[at:at] = lines[at : at + chance.choice((1, 3))] * chance.choice((1, 1, 20))
        elif kind == 3:
            lines[at] = ' ' * chance.choice((1, 2, 4, 60)) + lines[at]
        elif kind == 4:
            lines[at] = lines[at].removeprefix(' ' * chance.choice((1, 2, 4)))
        elif kind == 5:
            other = chance.choice(self._texts)
            begin = chance.randrange(len(other))
            lines[at:at] = other[begin : begin + chance.choice((1, 2, 5))]
        else:
            lines[at] = self._other(lines[at], kind)

    def _other(self, line: str, kind: int) -> str:
        """Return a line with another key or value."""
        chance, match = self._random, _KEY.match(line)
        if match is None:
            return f'{line[: chance.randrange(len(line) + 1)]}{chance.choice(self._values)}'
        before, key, colon, value = match.groups()
        if kind == 6:
            return f'{before}{chance.choice(self._keys)}{colon}{value}'
        return f'{before}{key}{colon or ": "}{chance.choice(self._values)}'

    def _line(self, lines: Sequence[str]) -> str:
        chance = self._random
        like = chance.choice(lines) if lines else ''
        indent = like[: len(like) - len(like.lstrip())]
        return f'{indent}{chance.choice(self._keys)}: {chance.choice(self._values)}'


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith('#')


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(' -'))


def _above(lines: Sequence[str], at: int) -> list[int]:
    """Return the lines that the entry of a line stands in."""
    found, indent = [], _indent(lines[at])
    indent -= lines[at].lstrip().startswith('- ')
    for above in range(at - 1, -1, -1):
        if _indent(lines[above]) < indent or (
            lines[above].lstrip().startswith('- ') and _indent(lines[above]) == indent
        ):
            found.append(above)
            indent = _indent(lines[above])
            if lines[above].lstrip().startswith('- '):
                indent -= 1  # the key of the list stands further out
    return found
