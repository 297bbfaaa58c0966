# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation that a gateway currently serves, and the objects built from it."""

from __future__ import annotations

from collections.abc import Callable
import gc
import logging
import threading
import time
from typing import Generic
from typing import Protocol
from typing import TypeVar

from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.kept_memory import trim_memory
from urlab_ros_bridge.transport.connection_events import ServerWatch
from urlab_ros_bridge.wire.errors import UrlabError

# Between two attempts at a server whose handshake cannot be read.
SLOW_RETRY_SECONDS = 10.0
# What clients are told when the simulation has ended.
GONE = 'the simulation has gone: reconnect when it is back'
_LOG = logging.getLogger(__name__)


class Served(Protocol):
    """What a gateway builds from a link: robots, threads that move them, prepared messages."""

    link: SimulationLink

    def close(self) -> None:
        """Release the simulation; the link is closed afterwards."""


S = TypeVar('S', bound=Served)


class SimulationConnection(Generic[S]):
    """
    Connects to a simulation, detects the end of its server at once, and connects to the next one.

    Thread-safe.

    :param open_link: returns a link that is not connected yet.
    :param make: turns a connected link into what the gateway serves; when it raises, the link
        is closed.
    :param on_lost: called from its own thread when the server has ended; running requests
        fail after it.
    """

    def __init__(
        self,
        open_link: Callable[[], SimulationLink],
        make: Callable[[SimulationLink], S],
        on_lost: Callable[[], None],
    ) -> None:
        self._open_link = open_link
        self._make = make
        self._on_lost = on_lost
        self._connecting = threading.Lock()  # held for seconds; `_lock` is not
        self._lock = threading.Lock()
        self._held: tuple[S, ServerWatch] | None = None
        self._refused: tuple[float, UnreadableHandshake] | None = None

    @property
    def current(self) -> S | None:
        """Return what is served now, None when there is no simulation."""
        held = self._held
        return None if held is None else held[0]

    def wait(self) -> S | None:
        """Return what is served, after a connection in progress is complete."""
        with self._connecting, self._lock:
            return self.current

    def take(self, timeout: float) -> None:
        """
        Connect to the server.

        :param timeout: seconds to wait for it.
        :raises UrlabError: when it is not there, or its world lacks what is needed.
        """
        with self._connecting:
            self._connect(timeout)

    def renew(self, timeout: float) -> None:
        """
        Reconnect when the simulation has ended or its server was restarted.

        :raises UrlabError: when there is none.
        """
        with self._connecting:
            served = self.current
            if served is None or served.link.was_restarted():
                del served
                self.release()
                self._connect(timeout)

    def release(self) -> None:
        """Release the simulation; safe to call twice."""
        self._release(None)

    def _connect(self, timeout: float) -> None:
        # A hello may end the session of another client, and clients of gateways connect often.
        if self._refused is not None and time.monotonic() < self._refused[0]:
            raise self._refused[1].with_traceback(None)
        link = self._open_link()
        try:
            link.connect(timeout)
            served = self._make(link)
        except UnreadableHandshake as error:
            link.close()
            self._refused = time.monotonic() + SLOW_RETRY_SECONDS, error
            raise
        except BaseException:
            link.close()
            raise
        with self._lock:
            watch = ServerWatch(link.endpoint, lambda: self._lose(served), link.keys)
            self._held = served, watch
        gc.collect()  # a model is megabytes behind a small Python object
        trim_memory()

    def _lose(self, served: S) -> None:
        """End everything with a simulation whose server has ended."""
        served.link.is_lost = True
        _LOG.warning('lost the simulation at %s', served.link.endpoint)
        self._on_lost()
        served.link.give_up()
        self._release(served)

    def _release(self, which: S | None) -> None:
        """Release what is served, if it is `which` (None: anything)."""
        with self._lock:
            if self._held is None or which not in (None, self._held[0]):
                return
            (served, watch), self._held = self._held, None
        watch.stop()
        try:
            served.close()
        except UrlabError as error:
            _LOG.warning('cannot release the simulation: %s', error)
        served.link.close()
        del served, watch, which
        gc.collect()  # a model is megabytes behind a small Python object
        trim_memory()


__all__ = ['GONE', 'Served', 'SimulationConnection']
