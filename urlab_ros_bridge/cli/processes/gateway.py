# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Run a gateway as a program: start it, serve until a signal comes, and stop it."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Protocol

from urlab_ros_bridge.cli.logs import announce
from urlab_ros_bridge.cli.processes.table import STOP_SECONDS
from urlab_ros_bridge.cli.signals import kill_after
from urlab_ros_bridge.cli.signals import StopRequest

_POLL_SECONDS = 0.1


class Gateway(Protocol):
    """A server that stands between a simulation and other clients."""

    def start(self, timeout: float) -> None:
        """Connect to the simulation within `timeout` seconds, then listen."""

    def stop(self) -> None:
        """Disconnect all clients and the simulation."""


def has_not_ended(seconds: float) -> bool:
    """Wait for a while; return False: the gateway ends by signals only."""
    time.sleep(seconds)
    return False


def serve_until_signal(
    gateway: Gateway,
    timeout: float,
    ready_line: Callable[[], str],
    wait_for_end: Callable[[float], bool] = has_not_ended,
) -> None:
    """
    Start a gateway, print one line, and run until a signal comes.

    :param timeout: for connecting to the simulation (s).
    :param ready_line: returns the line, which describes what is served; called after the start.
    :param wait_for_end: waits for up to so many seconds; returns whether the gateway has ended.
    """
    request = StopRequest()
    request.start(lambda: gateway.start(timeout))
    try:
        announce(ready_line())
        while not request.received and not wait_for_end(_POLL_SECONDS):
            pass
    finally:
        kill_after(STOP_SECONDS)
        gateway.stop()
