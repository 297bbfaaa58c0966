# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Gateways that are programs: started, served until a signal comes, and stopped."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Protocol

from urlab_ros_bridge.cli.logs import announce
from urlab_ros_bridge.cli.processes.table import STOP_SECONDS
from urlab_ros_bridge.cli.signals import interrupt_within
from urlab_ros_bridge.cli.signals import stop_by


class Gateway(Protocol):
    """What starts and stops."""

    def start(self, timeout: float) -> None:
        """Connect to the simulation within `timeout` seconds, then listen."""

    def stop(self) -> None:
        """End everything."""


def serve_until_signal(gateway: Gateway, timeout: float, ready_line: Callable[[], str]) -> None:
    """
    Start a gateway, print one line, and run until a signal comes.

    :param ready_line: returns the line, which says what is served; called after the start.
    """
    stop_by(interrupt_within(STOP_SECONDS))
    started = False
    try:
        gateway.start(timeout)
        started = True
        announce(ready_line())
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        if started:
            gateway.stop()
