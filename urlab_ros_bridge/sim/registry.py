# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which op is handled by which function.

The dispatcher knows no op by name: a module of `sim/ops` registers its handlers here, the fields
and categories come from the wire's table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.fields import Fields
from urlab_ros_bridge.sim.sessions import Session
from urlab_ros_bridge.wire.ops import OPS

Handler = Callable[[Context, Session, Fields], dict[str, Any]]
Estimate = Callable[[Context, Fields], float]


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A registered op.

    :ivar locked: the handler runs with the engine's lock held.
    :ivar seconds: estimates how long the handler takes, so that a transport can keep slow calls
        off the thread that serves everybody; None means it is quick.
    """

    name: str
    handler: Handler
    locked: bool = True
    seconds: Estimate | None = None


class Registry:
    """The ops that this server serves."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def register(
        self, name: str, handler: Handler, *, locked: bool = True, seconds: Estimate | None = None
    ) -> None:
        """
        Serve `name` with `handler`.

        :raises ValueError: when the op is not in the wire's table, or is served already.
        """
        if name not in OPS:
            raise ValueError(f'{name!r} is not in the op table')
        if name in self._entries:
            raise ValueError(f'{name!r} is registered twice')
        self._entries[name] = Entry(name, handler, locked, seconds)

    def get(self, name: object) -> Entry | None:
        """Return the entry of an op, None when it is not served."""
        return self._entries.get(name) if isinstance(name, str) else None

    def meta(self) -> list[dict[str, Any]]:
        """Return the served ops as `meta` lists them, in order of registration."""
        return [OPS[name].meta() for name in self._entries]
