# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Sessions: which clients may call, in which encoding, at which observation level.

A plain hello replaces the previous plain session (Protocol Reference, "Session lifecycle"; stock
servers know only one session).  A shared hello, our extension, opens a further session that
neither expires others nor is expired by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import threading
import time
from typing import Any
import uuid

from urlab_ros_bridge.sim.errors import OpError

MAX_SHARED = 64
IDLE_EXPIRY = 600.0  # s without a request until a shared session is forgotten
CONNECTED_AGE = 30.0  # s since the last request for a session to count as connected


@dataclass(slots=True)
class ServerSession:
    """
    One session.

    :ivar camera_header: header in front of camera frames that the hello asked for.
    :ivar published_state: sensors of replies are those of the published state, not what mj_step
        leaves.
    :ivar include_assets: the hello asked for the model's files.
    :ivar steps_from: the engine's counter at the hello; replies count steps since then.
    :ivar last_turn: when it had the model's lock last, counted over all sessions; see
        `physics.lock`.
    :ivar revision: the world's at the hello; see `SessionTable.expire`.
    :ivar owner: in whose name it claims articulations; a session that continues another one
        after a change of the world has that one's.
    """

    encoding: str = 'msgpack'
    observations: str = 'standard'
    shared: bool = False
    client: str = ''
    camera_header: str = ''
    include_assets: bool = False
    published_state: bool = False
    steps_from: tuple[int, int] = (0, 0)
    revision: int = 0
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    owner: str = ''
    last_seen: float = field(default_factory=time.monotonic)
    last_turn: int = 0

    def __post_init__(self) -> None:
        self.owner = self.owner or self.id


class SessionTable:
    """All sessions of a server; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plain: ServerSession | None = None
        self._shared: dict[str, ServerSession] = {}
        self._oldest = 0

    def open(self, session: ServerSession) -> None:
        """Add a session; a plain one replaces the plain one before it."""
        with self._lock:
            if not session.shared:
                self._plain = session
                return
            now = time.monotonic()
            self._shared = {
                key: old for key, old in self._shared.items() if now - old.last_seen < IDLE_EXPIRY
            }
            if len(self._shared) >= MAX_SHARED:
                oldest = min(self._shared.values(), key=lambda item: item.last_seen)
                del self._shared[oldest.id]
            self._shared[session.id] = session

    def find(self, session_id: object) -> ServerSession:
        """
        Return the session of a request and refresh it.

        :raises OpError: session_expired, quoting the id.
        """
        plain = self._plain
        if plain is not None and session_id == plain.id:
            session = plain
        else:
            found = self._shared.get(session_id) if isinstance(session_id, str) else None
            if found is None:
                raise OpError(
                    'session_expired',
                    f'session_id {session_id!r:.80} is not active; send hello again',
                )
            session = found
        if session.revision < self._oldest:
            raise OpError('session_expired', 'the world has changed; send hello again')
        session.last_seen = time.monotonic()
        return session

    def owner(self, session_id: str) -> str:
        """Return the owner of a session, expired or not; '' when it is not known."""
        with self._lock:
            session = self._shared.get(session_id)
        return session.owner if session is not None else ''

    def count_steps_from(self, counter: tuple[int, int]) -> None:
        """Count the steps of every session from an engine's `counter`: a world has begun."""
        with self._lock:
            for session in (self._plain, *self._shared.values()):
                if session is not None:
                    session.steps_from = counter

    def expire(self, revision: int, keep: ServerSession) -> None:
        """
        Expire all sessions whose handshake is of an older world.

        :param keep: the session that changed the world.
        """
        with self._lock:
            keep.revision = self._oldest = revision

    @property
    def last_plain(self) -> ServerSession:
        """Return the plain session, else one with defaults (a hello inherits its level)."""
        return self._plain or ServerSession()

    def connected(self) -> list[dict[str, Any]]:
        """Return the `status` entries of sessions with recent requests."""
        now = time.monotonic()
        with self._lock:
            sessions = ([self._plain] if self._plain else []) + list(self._shared.values())
        return [
            {
                'id': session.id[:8],
                'shared': session.shared,
                'client': session.client,
                'age': round(now - session.last_seen, 3),
            }
            for session in sessions
            if now - session.last_seen < CONNECTED_AGE and session.revision >= self._oldest
        ]
