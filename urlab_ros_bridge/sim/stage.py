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
from typing import Any
from typing import Protocol

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.paths import DataFolder
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
    :ivar draining: the server stops; there will be no further world.
    :ivar editor: whoever answers the editor's ops, None when there is no editor.
    :ivar shm: the server's shared memory, None when it offers none.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.sessions = SessionTable()
        self.data = DataFolder(config.data_dir, config.allow_absolute_paths)
        self.context: Context | None = None
        self.draining = False
        self.editor: Any = None
        self.shm: Any = None
        self._makers: list[Callable[[Context], Part]] = []
        self._parts: list[Part] = []

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
        if self.context is not None:
            raise RuntimeError('a world is running already')
        try:
            for make in self._makers:
                self._parts.append(make(context))
        except Exception:
            self._close_parts()
            raise
        self.sessions.rebase(context.engine.counter)
        self.context = context
        context.live.start()

    def close(self) -> None:
        """Take the world down: waiting calls answer `shutting_down`.  Harmless when none runs."""
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
