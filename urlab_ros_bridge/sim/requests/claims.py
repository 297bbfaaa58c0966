# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Claims on articulations: who alone may command one (additions of the plugin of July 2026).

An articulation without a claim takes commands from every client, so clients that know no claims
are not affected.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from dataclasses import dataclass
import threading
import time

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

DEFAULT_TTL = 10.0  # s
MAX_TTL = 3600.0


@dataclass(frozen=True, slots=True)
class Owner:
    """
    Who commands.

    :ivar key: the `control_owner` of a request, else the owner of its session: who knows it can
        command in its name.
    :ivar label: how others see it.
    """

    key: str
    label: str


@dataclass(slots=True)
class _Claim:
    """A claim; `until` by time.monotonic."""

    owner: Owner
    ttl: float
    until: float


class Claims:
    """The claims of a simulation, also when its world changes; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[str, _Claim] = {}

    def claim(self, prefix: str, owner: Owner, ttl: float, *, force: bool = False) -> None:
        """
        Give an articulation to an owner; a later claim of the same owner renews it.

        :param ttl: s without a claim or command of the owner after which it ends.
        :param force: take it from another owner.
        :raises OpError: control_claimed.
        """
        with self._lock:
            other = self._other(prefix, owner.key)
            if other and not force:
                raise OpError(
                    'control_claimed',
                    f'{prefix} is claimed by {other}; force: true takes it over',
                )
            self._claims[prefix] = _Claim(owner, ttl, time.monotonic() + ttl)

    def release(self, prefix: str, owner: Owner) -> None:
        """
        End a claim; without one nothing happens.

        :raises OpError: not_control_owner.
        """
        with self._lock:
            self._refuse_others(prefix, owner.key)
            self._claims.pop(prefix, None)

    def check(
        self, prefixes: Iterable[str], session: ServerSession | None, fields: Fields | None
    ) -> None:
        """
        Make sure that a request may command articulations, and renew the claims of its owner.

        :param session: None, as `fields`, for a sender who is unknown.
        :raises OpError: not_control_owner.
        """
        if not self._claims:
            return
        key = owner_of(session, fields).key if session and fields else ''
        with self._lock:
            mine = [prefix for prefix in prefixes if self._refuse_others(prefix, key)]
            for prefix in mine:
                claim = self._claims[prefix]
                claim.until = time.monotonic() + claim.ttl

    def keep(self, prefixes: Collection[str]) -> None:
        """End the claims of all articulations but these: the others no longer exist."""
        with self._lock:
            self._claims = {each: self._claims[each] for each in self._claims if each in prefixes}

    def _refuse_others(self, prefix: str, key: str) -> bool:
        """Return whether this owner has a claim; raise when another one has."""
        other = self._other(prefix, key)
        if other:
            raise OpError('not_control_owner', f'{prefix} is claimed by {other}')
        return prefix in self._claims

    def _other(self, prefix: str, key: str) -> str:
        """Return the label of the other owner of an articulation, '' when there is none."""
        claim = self._claims.get(prefix)
        if claim is not None and claim.until < time.monotonic():
            del self._claims[prefix]
            claim = None
        return '' if claim is None or claim.owner.key == key else claim.owner.label


def owner_of(session: ServerSession, fields: Fields) -> Owner:
    """
    Return in whose name a request commands: `control_owner`, else the session.

    Others see neither: with them, they could command in its name.
    """
    label = f'{session.client or "client"} {session.owner[:8]}'
    return Owner(fields.string('control_owner') or session.owner, label)
