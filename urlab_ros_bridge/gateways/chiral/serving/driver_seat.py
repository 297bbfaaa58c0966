# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's seat: which client drives, and when another one may take over."""

from __future__ import annotations

from http import HTTPStatus
import threading
import time

from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.access import same_secret
from urlab_ros_bridge.gateways.serving.websocket_server import has_room
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection


class Driver:
    """
    A client that drives.

    :ivar previous: the previous driver, which may not have ended yet; None without one.
    """

    def __init__(
        self, connection: WebSocketConnection, client_id: str, previous: Driver | None
    ) -> None:
        self.connection = connection
        self.client_id = client_id
        self.previous = previous
        self.since = time.monotonic()
        self._ended = threading.Event()

    def wait_for_previous(self, seconds: float) -> bool:
        """
        Wait until no request of the previous driver moves the robot.

        :returns: whether it has ended.
        """
        previous, self.previous = self.previous, None
        return previous is None or previous._ended.wait(seconds)

    def end(self) -> None:
        """Let the next driver start."""
        self.previous = None
        self._ended.set()


class DriverSeat:
    """
    The place of the driver.

    It is free as soon as the connection of the driver is closing, by either side, even if one of
    its requests still runs.  A peer that has vanished silently looks like one that is computing;
    only the same client may replace it, identified by the id that it has chosen.  A stock client
    has none, and waits for the keepalive.  A driver that has never sent anything does not drive:
    another one may replace it after a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: Driver | None = None
        self._drivers: dict[WebSocketConnection, Driver] = {}  # that have not ended

    def take(self, connection: WebSocketConnection, client_id: str) -> None:
        """
        Let a client drive.

        :raises HandshakeRefusal: when another one does.
        """
        with self._lock:
            now = self._newest
            if now is not None and not has_room([now.connection], 1):
                if not client_id or not same_secret(client_id, now.client_id):
                    since = time.monotonic() - now.since
                    raise HandshakeRefusal(
                        HTTPStatus.SERVICE_UNAVAILABLE,
                        f'the robot is driven by {now.connection.peer} (for {since:.0f} s); '
                        'only one driver is allowed',
                    )
                now.connection.abort('the same client reconnected')
            self._newest = self._drivers[connection] = Driver(connection, client_id, now)

    def of(self, connection: WebSocketConnection) -> Driver | None:
        """Return the driver on a connection, None when it only watches."""
        return self._drivers.get(connection)

    def leave(self, connection: WebSocketConnection) -> None:
        """End a driver, if the client is one: none of its requests moves the robot any more."""
        with self._lock:
            driver = self._drivers.pop(connection, None)
            if driver is None:
                return
            driver.end()
            if self._newest is driver:
                self._newest = None


__all__ = ['Driver', 'DriverSeat']
