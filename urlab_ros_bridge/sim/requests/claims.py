# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Claims on articulations: who alone may command one (additions of the plugin of July 2026).

An articulation without a claim takes commands from every client, so clients that know no claims
are not affected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import threading
import time

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

DEFAULT_TTL = 10.0  # s
MAX_TTL = 3600.0


@dataclass(slots=True)
class _Claim:
    """A claim; `until` by time.monotonic."""

    owner: str
    ttl: float
    until: float


class Claims:
    """The claims of one world; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[str, _Claim] = {}

    def claim(self, prefix: str, owner: str, ttl: float, *, force: bool = False) -> None:
        """
        Give an articulation to an owner; a later claim of the same owner renews it.

        :param ttl: s without a claim or command of the owner after which it ends.
        :param force: take it from another owner.
        :raises OpError: control_claimed.
        """
        with self._lock:
            other = self._other(prefix, owner)
            if other and not force:
                raise OpError(
                    'control_claimed',
                    f'{prefix} is claimed by {other}; force: true takes it over',
                )
            self._claims[prefix] = _Claim(owner, ttl, time.monotonic() + ttl)

    def release(self, prefix: str, owner: str) -> None:
        """
        End a claim; without one nothing happens.

        :raises OpError: not_control_owner.
        """
        with self._lock:
            self._refuse_others(prefix, owner)
            self._claims.pop(prefix, None)

    def check(self, prefixes: Iterable[str], session: ServerSession, fields: Fields) -> None:
        """
        Make sure that a request may command articulations, and renew the claims of its owner.

        :raises OpError: not_control_owner.
        """
        if not self._claims:
            return
        owner = owner_of(session, fields)
        with self._lock:
            mine = [prefix for prefix in prefixes if self._refuse_others(prefix, owner)]
            for prefix in mine:
                claim = self._claims[prefix]
                claim.until = time.monotonic() + claim.ttl

    def _refuse_others(self, prefix: str, owner: str) -> bool:
        """Return whether this owner has a claim; raise when another one has."""
        other = self._other(prefix, owner)
        if other:
            raise OpError('not_control_owner', f'{prefix} is claimed by {other}')
        return prefix in self._claims

    def _other(self, prefix: str, owner: str) -> str:
        """Return the other owner of an articulation, '' when there is none."""
        claim = self._claims.get(prefix)
        if claim is not None and claim.until < time.monotonic():
            del self._claims[prefix]
            claim = None
        return '' if claim is None or claim.owner == owner else claim.owner


def owner_of(session: ServerSession, fields: Fields) -> str:
    """
    Return in whose name a request commands: `control_owner`, else the session.

    The whole session id is not shown to others: who knows it can use the session.
    """
    return fields.string('control_owner') or f'{session.client or "client"} {session.id[:8]}'
