# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Request the figures of a running server, once a second, in its own thread."""

from __future__ import annotations

import contextlib
import threading
import time

from urlab_ros_bridge.cli.status.line import Figures
from urlab_ros_bridge.cli.status.line import OWN_NAME
from urlab_ros_bridge.wire.errors import UrlabError

PERIOD_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0


class StatusPoller:
    """
    Keeps the newest `status` reply of a server, through a shared session.

    :ivar latest: the newest figures, None before the first; may be read from any thread.
    """

    def __init__(self, host: str, rpc_port: int, keys: str = '') -> None:
        self._keys = keys
        self._host = host
        self._rpc_port = rpc_port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='status', daemon=True)
        self.latest: Figures | None = None

    def __enter__(self) -> StatusPoller:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop.set()

    def _run(self) -> None:
        from urlab_ros_bridge.client.client import Client

        client = Client(
            self._host,
            self._rpc_port,
            shared=True,
            name=OWN_NAME,
            timeout=TIMEOUT_SECONDS,
            keys=self._keys,
        )
        connected = False
        while not self._stop.is_set():
            with contextlib.suppress(UrlabError):
                # Where sessions cannot be shared, a hello would end that of a user.
                if not connected and client.supports_shared_sessions():
                    client.connect()
                    connected = True
                if connected:
                    self.latest = Figures(client.status().raw, time.monotonic())
            self._stop.wait(PERIOD_SECONDS)
        client.close()
