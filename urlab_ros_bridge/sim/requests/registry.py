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

from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.ops import OPS

# The first argument is what the op's category works on: the running `Simulation`
# (manager_required), the editor (editor_only) or the `SimulationHost` (no_manager).  The result is
# the reply without `op`, or the whole reply as a frame in the session's encoding, or a function
# that returns the reply when the engine's lock is free again: for ops that wait, with an estimate
# (`RegisteredOp.seconds`) that keeps them off the request thread.
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
    """

    op: Op
    handler: Handler
    locked: bool = True
    seconds: Estimate | None = None
    urgent: bool = False
    changes_world: bool = False


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
            if name in self._entries:
                raise ValueError(f'{name!r} is registered twice')
            op = OPS[name]
            has_lock = locked and not changes_world and op.category == MANAGER_REQUIRED
            self._entries[name] = RegisteredOp(
                op, handler, has_lock, seconds, urgent, changes_world
            )

    def get(self, name: object) -> RegisteredOp | None:
        """Return the entry of an op, None when it is not served."""
        return self._entries.get(name) if isinstance(name, str) else None

    def meta(self) -> list[dict[str, Any]]:
        """Return the served ops as `meta` lists them, in the order of the wire's table."""
        return [op.meta() for name, op in OPS.items() if name in self._entries]
