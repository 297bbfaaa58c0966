# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The stage: what outlives a world, and the world that is played on it, if any.

Sessions, sockets and the data folder belong to the server.  A world with its engine and threads
comes and goes: an editor compiles one at `begin_pie` and takes it down at `stop_pie` (Protocol
Reference, "hello": `manager_present` is false in between).
"""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
from typing import Any
from typing import Protocol

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.paths import DataFolder
from urlab_ros_bridge.sim.sessions import Session
from urlab_ros_bridge.sim.sessions import SessionTable

_LOG = logging.getLogger(__name__)


class Part(Protocol):
    """Something that lives as long as one world: a publisher, a renderer."""

    def close(self) -> None:
        """Stop; the engine drains already and publishes nothing more."""


class Stage:
    """
    Holds at most one running world.

    :ivar context: the world with its engine and threads; None while nothing is played.
    :ivar revision: grows whenever another or a changed world begins.
    :ivar changing: held by whoever makes a changed world, so that changes come one by one.
    :ivar settled: not set while one world takes the place of another; requests wait then.
    :ivar draining: the server stops; there will be no further world.
    :ivar editor: whoever answers the editor's ops, None when there is no editor.
    :ivar shm: the server's shared memory, None when it offers none.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.sessions = SessionTable()
        self.data = DataFolder(config.data_dir, config.allow_absolute_paths)
        self.context: Context | None = None
        self.revision = 0
        self.settled = threading.Event()
        self.settled.set()
        self.draining = False
        self.editor: Any = None
        self.shm: Any = None
        self._makers: list[Callable[[Context], Part]] = []
        self._parts: list[Part] = []
        self._lock = threading.RLock()
        self.changing = threading.Lock()

    @property
    def shm_dir(self) -> str:
        """Return the session directory that the handshake tells, '' without shared memory."""
        return str(self.shm.path) if self.shm is not None else ''

    def add_part(self, make: Callable[[Context], Part]) -> None:
        """Have `make(context)` called for every world that is opened from now on."""
        self._makers.append(make)

    def open(self, context: Context) -> None:
        """
        Let a world run: its parts are made, then time starts; sessions count steps anew.

        :raises RuntimeError: when another world is running.
        """
        with self._lock:
            if self.context is not None:
                raise RuntimeError('a world is running already')
            try:
                for make in self._makers:
                    self._parts.append(make(context))
            except Exception:
                self._close_parts()
                raise
            self.sessions.rebase(context.engine.counter)
            self.revision += 1
            self.context = context
            context.live.start()

    def replace(
        self, old: Context, new: Context, carry: Callable[[], None], keep: Session
    ) -> None:
        """
        Let a changed world take the place of the running one, which goes on until then.

        All sessions but `keep` expire.  Requests that come meanwhile wait, those that have waited
        for the old world answer session_expired.

        :param carry: gives `new` the state of `old`; called with the old engine's lock.  What it
            raises leaves everything as it is.
        :raises OpError: session_expired when `old` no longer runs.
        """
        with self._lock:
            if self.context is not old:
                raise OpError('session_expired', 'another world has begun meanwhile')
            self.settled.clear()
            try:
                with old.engine.lock:
                    carry()
                    old.engine.replaced = True
                    old.engine.on_state.clear()
                    old.engine.lock.changed.notify_all()
                self._take_over(old, new)
                self.sessions.expire(self.revision, keep)
            finally:
                self.settled.set()

    def _take_over(self, old: Context, new: Context) -> None:
        running = old.live.is_alive()
        if running:
            old.live.join(timeout=5.0)
        self._close_parts()
        for make in self._makers:
            try:
                self._parts.append(make(new))
            except Exception:
                # The world goes on, as well as it can without this part.
                _LOG.exception('a part of the changed world cannot run')
        self.revision += 1
        self.context = new
        if running:
            new.live.start()
        with new.engine.lock:
            new.engine.state_changed()

    def close(self) -> None:
        """Take the world down: waiting calls answer `shutting_down`.  Harmless when none runs."""
        with self._lock:
            context, self.context = self.context, None
            if context is None:
                return
            engine = context.engine
            engine.draining = True
            with engine.lock:
                engine.lock.changed.notify_all()
            context.live.join(timeout=5.0)
            with engine.lock:
                engine.on_state.clear()
            self._close_parts()

    def _close_parts(self) -> None:
        while self._parts:
            try:
                self._parts.pop().close()
            except Exception:
                _LOG.exception('a part of the world did not close')


__all__ = ['Part', 'Stage']
