# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
S-expressions: atoms and lists of them, as text and as Python's strings and lists.

Atoms end at blanks, line ends and parentheses; double quotes hold one together.  The text is
ASCII (Network Protocol page, "Message Formats").  Reading and writing take time in proportion to
the text, and no recursion.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import math
import re
from typing import TypeAlias

from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.errors import UnwritableValue

Expression: TypeAlias = 'str | list[Expression]'
Writable: TypeAlias = 'str | int | float | Iterable[Writable]'

# Scene graphs are the deepest; theirs is below ten.
MAX_DEPTH = 64
# Of a number: longer ones are garbage, and integers of many digits take long to read.
_MAX_DIGITS = 64

_TOKEN = re.compile(r'[()]|"[^"]*"?|[^ \t\r\n()"]+')
_PLAIN = re.compile(r'[^ \t\r\n()"]+')
_FLOAT = re.compile(r'[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')
_INTEGER = re.compile(r'[+-]?[0-9]+')


def read(payload: bytes) -> list[Expression]:
    """
    Return the expressions of a message: often one, but several may follow each other.

    >>> read(b'(he1 0.5)(syn)')
    [['he1', '0.5'], ['syn']]

    :raises MalformedExpression: for anything that is not a sequence of expressions.
    """
    try:
        text = payload.decode('ascii')
    except UnicodeDecodeError as error:
        byte = payload[error.start]
        raise MalformedExpression(f'byte {error.start} is 0x{byte:02x}, not ASCII') from None
    top: list[Expression] = []
    here, above = top, []
    for token in _TOKEN.findall(text):
        if token == '(':
            inside: list[Expression] = []
            here.append(inside)
            above.append(here)
            if len(above) > MAX_DEPTH:
                raise MalformedExpression(f'nested deeper than {MAX_DEPTH} lists')
            here = inside
        elif token == ')':
            if not above:
                raise MalformedExpression('a ")" without its "("')
            here = above.pop()
        elif token[0] == '"':
            if len(token) < 2 or token[-1] != '"':
                raise MalformedExpression('a double quote is not closed')
            here.append(token[1:-1])
        else:
            here.append(token)
    if above:
        raise MalformedExpression(f'{len(above)} "(" without their ")"')
    return top


def write(*expressions: Writable) -> bytes:
    """
    Return the text of expressions, one after the other; `read` returns them again.

    Integers are written plainly, other numbers with 6 significant digits.

    >>> write(['time', 0.5], ['pos', 1, 2.0, -1e-9])
    b'(time 0.5)(pos 1 2 -1e-09)'

    :raises UnwritableValue: for a number that is not finite, an atom with a quote or beyond
        ASCII.
    """
    parts: list[str] = []
    above: list[Iterator[Writable]] = []
    here: Iterator[Writable] = iter(expressions)
    gap = False  # whether an atom needs a blank before it
    while True:
        item = next(here, None)
        if item is None:
            if not above:
                break
            here = above.pop()
            parts.append(')')
            gap = False
        elif isinstance(item, (str, int, float)):
            parts.append(f' {atom(item)}' if gap else atom(item))
            gap = True
        else:
            # Tools lose an expression with a blank after "(", never one without a blank before.
            parts.append(' (' if gap and above else '(')
            above.append(here)
            here = iter(item)
            gap = False
    return ''.join(parts).encode('ascii')


def atom(value: str | float) -> str:
    """
    Return the text of one atom.

    :raises UnwritableValue: see `write`.
    """
    if isinstance(value, str):
        if not value.isascii() or '"' in value:
            raise UnwritableValue(value, 'atoms are ASCII without double quotes')
        return value if _PLAIN.fullmatch(value) else f'"{value}"'
    if isinstance(value, int):
        return str(int(value))
    if not math.isfinite(value):
        raise UnwritableValue(value, 'it is not finite')
    return f'{value:g}'


def as_float(item: Expression) -> float:
    """
    Return the number of an atom.

    :raises MalformedExpression: unless it is a finite decimal number.
    """
    if isinstance(item, str) and len(item) <= _MAX_DIGITS and _FLOAT.fullmatch(item):
        value = float(item)
        if math.isfinite(value):
            return value
    raise MalformedExpression(f'{_shown(item)} is not a finite number')


def as_integer(item: Expression) -> int:
    """
    Return the whole number of an atom.

    :raises MalformedExpression: unless it is one.
    """
    if isinstance(item, str) and len(item) <= _MAX_DIGITS and _INTEGER.fullmatch(item):
        return int(item)
    raise MalformedExpression(f'{_shown(item)} is not a whole number')


def head(item: Expression) -> str:
    """Return the first atom of a list, '' where there is none."""
    if isinstance(item, list) and item and isinstance(item[0], str):
        return item[0]
    return ''


def named(items: Sequence[Expression], name: str) -> list[Expression] | None:
    """
    Return what follows the name in the first list that begins with it, None without one.

    A list with nothing behind its name counts as absent, as in SimSpark.

    >>> named([['unum', '3'], ['pos', '0', '1']], 'pos')
    ['0', '1']
    """
    for item in items:
        if isinstance(item, list) and len(item) > 1 and item[0] == name:
            return item[1:]
    return None


def _shown(item: Expression, most: int = 60) -> str:
    text = repr(item if isinstance(item, str) else item[:3])
    return text if len(text) <= most else f'{text[:most]}...'


__all__ = [
    'MAX_DEPTH', 'Expression', 'Writable', 'as_float', 'as_integer', 'atom', 'head', 'named',
    'read', 'write',
]  # fmt: skip
