# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which op is handled by which function.

The dispatcher knows no op by name.  A module of `sim/ops` registers its handlers here, with fields
and categories from the wire's table; an extension (`sim/extensions.py`) declares its own ops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.ops import PRE_SESSION_OPS

# The first argument is the running `Simulation` for ops that need one (manager_required), for
# others the `SimulationHost`.  The result is the reply without `op`, or the whole reply as a frame
# in the session's encoding, or a function that returns the reply when the engine's lock is free
# again: for ops that wait, with an estimate (`RegisteredOp.seconds`) that keeps them off the
# request thread.
ReplyFields = dict[str, Any]
Reply = ReplyFields | bytes | Callable[[], dict[str, Any]]
Handler = Callable[[Any, ServerSession, Fields], Reply]
Estimate = Callable[[Any, Fields], float]


@dataclass(frozen=True, slots=True)
class RegisteredOp:
    """
    A registered op.

    :ivar locked: the handler runs with the engine's lock held (only ops that need a world).
    :ivar seconds: estimates how long the handler takes, so that a transport can keep slow calls
        off the request thread; None means it is quick, and math.inf that it waits
        for an event that may never come.
    :ivar changes_world: the handler gets the host, although the op needs a running world.
    :ivar urgent: it stops, pauses or steers, so it goes before the steps of all sessions.
    :ivar zmq_only: over shared memory it answers `wrong_transport`; clients then use ZeroMQ.
    """

    op: Op
    handler: Handler
    locked: bool = True
    seconds: Estimate | None = None
    urgent: bool = False
    changes_world: bool = False
    zmq_only: bool = False


class Registry:
    """The ops that this server serves."""

    def __init__(self) -> None:
        self._entries: dict[str, RegisteredOp] = {}

    def register(
        self,
        *handlers: Handler,
        locked: bool = True,
        seconds: Estimate | None = None,
        urgent: bool = False,
        changes_world: bool = False,
    ) -> None:
        """
        Serve the ops that have the names of the handlers; see `RegisteredOp`.

        :raises ValueError: when an op is not in the wire's table, or is served already.
        """
        for handler in handlers:
            name = handler.__name__
            if name not in OPS:
                raise ValueError(f'{name!r} is not in the op table')
            self.add(RegisteredOp(OPS[name], handler, locked, seconds, urgent, changes_world))

    def add(self, *entries: RegisteredOp) -> None:
        """
        Serve ops, all or none, each as it is declared.

        :raises ValueError: when one is served already.
        """
        added: dict[str, RegisteredOp] = {}
        for entry in entries:
            name = entry.op.name
            if name in {*self._entries, *added, *PRE_SESSION_OPS}:
                raise ValueError(f'{name!r} is registered twice')
            needs_world = entry.op.category == MANAGER_REQUIRED
            has_lock = entry.locked and needs_world and not entry.changes_world
            added[name] = replace(entry, locked=has_lock)
        self._entries |= added

    def find(self, name: str) -> RegisteredOp:
        """
        Return the entry of an op.

        :raises OpError: not_in_editor for an op of the editor that is not served, unknown_op.
        """
        entry = self._entries.get(name)
        if entry is not None:
            return entry
        known = OPS.get(name)
        if known is not None and known.category == EDITOR_ONLY:
            raise OpError('not_in_editor', f'{name} needs an editor; this server simulates only')
        raise OpError('unknown_op', f'{name:.60} ({list_names("op", self._served(), 40)})')

    def meta(self) -> list[dict[str, Any]]:
        """Return the served ops as `meta` lists them: the wire's table first, in its order."""
        return [self._entries[name].op.meta() for name in self._served()]

    def _served(self) -> list[str]:
        table = [name for name in OPS if name in self._entries]
        return table + [name for name in self._entries if name not in OPS]
