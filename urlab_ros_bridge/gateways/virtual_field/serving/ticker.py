# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread of all clients: one state, one serialisation, and no client waits for another."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
import time

from urlab_ros_bridge.gateways.serving.websocket_connection import frame_head
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient

_LOG = logging.getLogger(__name__)

RATE = 72.0  # Hz, of the protocol
# What is left of a message that did not fit a socket is pushed so often (s).
_PUSH = 0.002
# After so long behind, the schedule starts over (s).
_HOPELESS = 0.25


class Ticker:
    """
    Shows each client the newest state, `RATE` times a second.

    A client that has not taken the message before does not get this one: what it gets next is
    the newest, however long it did not read.  Only the bytes of one message wait for it.

    :param look: returns the newest frame, None when there is no simulation.
    :param show: sends one client what it sees of a frame; returns whether it took it.
    :param clients: returns those that are connected.
    """

    def __init__(
        self,
        look: Callable[[], SceneFrame | None],
        show: Callable[[WebXrClient, SceneFrame], bool],
        clients: Callable[[], list[WebXrClient]],
        rate: float = RATE,
    ) -> None:
        self._look = look
        self._show = show
        self._clients = clients
        self._period = 1 / rate
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='webxr-ticker', daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; safe to call twice."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            try:
                self._tick()
            except Exception:  # the thread has to outlive it
                _LOG.exception('a tick failed')
            due += self._period
            if time.monotonic() - due > _HOPELESS:
                due = time.monotonic()
            self._wait_until(due)

    def _tick(self) -> None:
        clients = [client for client in self._clients() if client.sees]
        if not clients:
            return
        frame = self._look()
        if frame is None:
            return
        for client in clients:
            # A session that begins or ends is not waited for.
            if not client.changing.acquire(blocking=False):
                continue
            try:
                if client.page is not None:
                    client.page.tick(frame)
                elif client.sees:
                    client.count(self._show(client, frame))
            except Exception:
                _LOG.exception('%s: its tick failed', client.connection.peer)
            finally:
                client.changing.release()

    def _wait_until(self, due: float) -> None:
        """Sleep, and push what did not fit the sockets."""
        while (left := due - time.monotonic()) > 0:
            busy = [c.connection for c in self._clients() if c.connection.is_busy]
            if not busy:
                time.sleep(left)  # `stop` waits for it: it is a 72nd of a second at most
                return
            for connection in busy:
                connection.push()
            time.sleep(min(left, _PUSH))


def framed(message: bytes) -> bytes:
    """Return a text message with its frame header: the same bytes for every client."""
    return frame_head(len(message), text=True) + message


__all__ = ['RATE', 'Ticker', 'framed']
