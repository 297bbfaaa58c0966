# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Ops of other packages.

An extension is a function that takes the `SimulationHost` and returns an `Extension`.  Packages
name theirs by the entry-point group `urlab_ros_bridge.ops`; those are loaded by every server.  A
broken one is logged and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.metadata import EntryPoint
import logging

from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.sim.simulation import WorldService

ENTRY_POINTS = 'urlab_ros_bridge.ops'
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extension:
    """
    What an extension adds to a server.

    :ivar ops: the ops that it serves.
    :ivar services: each is called for every world that is opened; a world opens without those
        that fail.
    :ivar open_world: opens the world that the server starts with, if any, in place of the server.
    :ivar close: called once when the server stops, before its world is closed.
    """

    ops: Sequence[RegisteredOp] = ()
    services: Sequence[Callable[[Simulation], WorldService]] = ()
    open_world: Callable[[], None] | None = None
    close: Callable[[], None] | None = None


Extend = Callable[[SimulationHost], Extension]


class Extensions:
    """The extensions of one server."""

    def __init__(self, host: SimulationHost, registry: Registry) -> None:
        self._host, self._registry = host, registry
        self._added: list[tuple[str, Extension]] = []

    def add(self, extend: Extend, name: str) -> None:
        """
        Add an extension.

        :param name: stands for it in logs.
        :raises Exception: what it raises; nothing of it was added.
        """
        extension = extend(self._host)
        if not isinstance(extension, Extension):
            raise TypeError(f'must return an Extension, not {type(extension).__name__}')
        self._registry.add(*extension.ops)
        for make in extension.services:
            self._host.add_service(_optional(make, name))
        self._added.append((name, extension))

    def add_installed(self) -> None:
        """Add the extensions of all installed packages; log and leave out broken ones."""
        for entry in sorted(entry_points(group=ENTRY_POINTS)):
            name = _described(entry)
            try:
                self.add(entry.load(), name)
            except Exception:
                _LOG.exception('%s is left out; correct or uninstall that package', name)

    def open_world(self) -> bool:
        """Open the world that the server starts with; False if no extension does that."""
        for _, extension in self._added:
            if extension.open_world is not None:
                extension.open_world()
                return True
        return False

    def close(self) -> None:
        """Close all extensions, the last one first."""
        while self._added:
            name, extension = self._added.pop()
            try:
                if extension.close is not None:
                    extension.close()
            except Exception:
                _LOG.exception('failed to close %s', name)


def _described(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist is not None else 'a package'
    return f'extension {entry.name!r} of {package} ({entry.value})'


def _optional(
    make: Callable[[Simulation], WorldService], name: str
) -> Callable[[Simulation], WorldService]:
    def make_or_log(simulation: Simulation) -> WorldService:
        try:
            return make(simulation)
        except Exception:
            _LOG.exception('failed to start a service of %s', name)
            return ExitStack()  # does nothing when it is closed

    return make_or_log
