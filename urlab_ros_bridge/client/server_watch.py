# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Notices at once when a server has ended, while no request is sent."""

from __future__ import annotations

from collections.abc import Callable
import threading

import zmq

from urlab_ros_bridge.client.transports.connection_events import ConnectionEvents
from urlab_ros_bridge.client.transports.sockets import notice_dead_hosts
from urlab_ros_bridge.client.transports.sockets import open_socket
from urlab_ros_bridge.transport.keys import ClientKeys

# A server that has just answered accepts a connection within this time (s).
_CONNECT_SECONDS = 5.0


class ServerWatch:
    """
    Keeps a silent connection; its end is that of the server.

    The system reports within milliseconds when the process has ended, for any reason, and within
    some seconds when the machine has gone.  A process that is only stopped (SIGSTOP) keeps its
    connections, and is not noticed here.
    """

    def __init__(
        self, endpoint: str, on_lost: Callable[[], None], keys: ClientKeys | None = None
    ) -> None:
        """
        Begin to watch a server that is up.

        :param endpoint: of its requests, ``tcp://host:port``.
        :param on_lost: called once, from the thread of the watch.
        """
        self._on_lost = on_lost
        self._socket = open_socket(zmq.DEALER, keys)
        notice_dead_hosts(self._socket)
        self._events = ConnectionEvents(
            self._socket,
            zmq.EVENT_CONNECTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED,
        )
        self._socket.connect(endpoint)
        self._thread = threading.Thread(target=self._run, name='urlab-watch', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch; may be called by `on_lost` too, and twice."""
        if self._socket.closed:
            return
        self._events.stop()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._events.close()

    def _run(self) -> None:
        if self._is_lost():
            self._on_lost()

    def _is_lost(self) -> bool:
        """Wait for the end; return whether it was that of the server and not of the watch."""
        patience: int | None = int(_CONNECT_SECONDS * 1000)
        while self._events.poll(patience):
            event = self._events.take()
            if event == zmq.EVENT_MONITOR_STOPPED:
                return False
            if event == zmq.EVENT_DISCONNECTED:
                return True
            patience = None  # connected
        return True


__all__ = ['ServerWatch']
