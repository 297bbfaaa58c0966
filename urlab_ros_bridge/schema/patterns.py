# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Regular expressions that other programs send.

Python's `re` backtracks: an expression such as ``([a-z_/]+)+#`` holds the interpreter for hours.
RE2 searches in linear time, with bounded memory.
"""

from __future__ import annotations

import re
from typing import Any
from typing import Protocol

from urlab_ros_bridge.wire.errors import UrlabError

LONGEST = 1000
_SPECIAL = re.compile(r'[.^$*+?{}\[\]\\|()]')


class BadPattern(UrlabError, ValueError):
    """A text is not a regular expression, or cannot be read as one here."""

    def __init__(self, text: str, cause: object) -> None:
        super().__init__(f'{text!r:.200} is not a regular expression: {cause}')


class Pattern(Protocol):
    """A compiled expression."""

    def search(self, text: str, /) -> object | None:
        """Return a match anywhere in a text, or None."""

    def fullmatch(self, text: str, /) -> object | None:
        """Return a match of a whole text, or None."""


def compile_pattern(text: str) -> Pattern:
    """
    Compile a regular expression in the syntax of RE2, which has the classes of POSIX.

    A text without special characters needs no RE2.

    :raises BadPattern: for what is no expression, and where google-re2 is not installed.

    >>> bool(compile_pattern('^box_[[:digit:]]+$').search('box_12'))
    True
    """
    if len(text) > LONGEST:
        raise BadPattern(text, f'it has {len(text)} characters, at most {LONGEST} are allowed')
    if not _SPECIAL.search(text):
        return re.compile(text)
    try:
        import re2
    except ImportError as error:
        raise BadPattern(
            text,
            f'that needs the Python package google-re2 ({error}): run "urlab setup --with bags"',
        ) from error
    options: Any = re2.Options()
    options.log_errors = False
    try:
        found: Pattern = re2.compile(text, options)
    except (re2.error, UnicodeEncodeError) as error:
        cause = error.args[0]
        shown = cause.decode(errors='replace') if isinstance(cause, bytes) else error
        raise BadPattern(text, f'{shown!s:.200}') from error
    return found


def pattern_problem(text: str) -> str:
    """Return what is wrong with an expression, '' when nothing is."""
    try:
        compile_pattern(text)
    except BadPattern as error:
        return str(error)
    return ''
