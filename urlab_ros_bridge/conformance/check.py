# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a check is: one rule of the protocol's pages, with its place, as a function that tries it.

A check returns when the rule holds, raises `Failed` with what was expected and what arrived, or
`Skipped` with the reason why this server cannot be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
import inspect
from typing import Any
from typing import TYPE_CHECKING

from urlab_ros_bridge.wire.errors import UrlabError

if TYPE_CHECKING:
    from urlab_ros_bridge.conformance.peer import Peer

PROTOCOL = 'Protocol Reference'
NETWORKING = 'Networking'
PLUGIN = 'stock plugin'  # neither page says it; stock servers do it and stock clients rely on it

LIVE = ('live',)
DIRECT = ('direct',)
PUPPET = ('puppet',)
STEPPED = ('direct', 'puppet')
EVERY = ('live', 'direct', 'puppet')
ANY = ('',)  # whatever mode the server is in


class Failed(UrlabError):
    """A rule does not hold."""

    def __init__(self, expected: object, got: object) -> None:
        self.expected, self.got = str(expected), got if isinstance(got, str) else repr(got)
        super().__init__(f'expected {self.expected}, got {self.got}')


class Skipped(UrlabError):
    """A rule cannot be tried on this server; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Check:
    """
    One rule.

    :ivar name: dotted, unique: ``step.direct.n_steps``.
    :ivar page: which page states it, `PLUGIN` when none does.
    :ivar section: heading of that page under which it stands.
    :ivar quote: a few words of that section; empty when the rule has no single sentence.
    :ivar rule: what must hold, in one sentence.
    :ivar run: tries it.
    :ivar modes: the step modes in which it is tried, `ANY` when the mode does not matter.
    :ivar transports: over which it is tried.
    :ivar world: it needs a running world (an active manager).
    :ivar slow: it waits for wall time.
    :ivar last: it ends the server, so it comes after all others.
    :ivar stock: how the stock plugin of June 2026 is known to deviate; empty when it does not.
    """

    name: str
    page: str
    section: str
    quote: str
    rule: str
    run: Callable[[Peer], None]
    modes: tuple[str, ...] = ANY
    transports: tuple[str, ...] = ('zmq', 'shm')
    world: bool = True
    slow: bool = False
    last: bool = False
    stock: str = ''

    @property
    def source(self) -> str:
        """Return page, section and quote as one text."""
        words = f': "{self.quote}"' if self.quote else ''
        return f'{self.page}, {self.section}{words}'

    def matches(self, pattern: str) -> bool:
        """Return whether the name fits a pattern: a glob, or the beginning of the name."""
        return fnmatchcase(self.name, pattern) or self.name.startswith(f'{pattern}.')


def check(
    name: str, page: str, section: str, quote: str = '', **more: Any
) -> Callable[[Callable[[Peer], None]], Check]:
    """Turn a function into a `Check`; the first paragraph of its docstring is the rule."""

    def make(function: Callable[[Peer], None]) -> Check:
        rule = ' '.join((inspect.getdoc(function) or '').split('\n\n')[0].split())
        return Check(name, page, section, quote, rule, function, **more)

    return make


def expect(condition: object, expected: object, got: object) -> None:
    """
    Demand a condition.

    :raises Failed: when it does not hold.
    """
    if not condition:
        raise Failed(expected, got)


def equal(what: str, got: object, expected: object) -> None:
    """
    Demand that two values are equal.

    :raises Failed: when they are not; `what` names the value.
    """
    if got != expected:
        raise Failed(f'{what} == {expected!r}', got)


def skip(reason: str) -> Skipped:
    """Return the exception of a rule that cannot be tried."""
    return Skipped(reason)
