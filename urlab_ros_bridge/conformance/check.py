# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a check is: one rule of the protocol's pages, with its place, as a function that tries it.

How it ends is in `verdict`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
import inspect
from typing import Any

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
