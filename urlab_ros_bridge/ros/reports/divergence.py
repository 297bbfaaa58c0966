# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reports that the simulation became unstable: an ERROR in /diagnostics, and a line in the log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.link.connection import ServerLink

EXTENSION = 'divergence'


class DivergenceReport(Part):
    """Reads the link's last status, in the stream's thread."""

    def __init__(self, bridge: Bridge) -> None:
        self._link = bridge.part(ServerLink)
        self._log = bridge.log
        self._run: Any = None
        self._logged = 0

    def every_second(self, now: float) -> None:
        """Log a divergence that was not logged before; at most one a call."""
        status, handshake = self._link.status, self._link.handshake
        if status is None or handshake is None:
            return
        run = handshake.raw.get('run')
        if run != self._run:
            self._run, self._logged = run, 0  # another world counts from the beginning
        found = status.divergence
        if found is not None and found.count > self._logged:
            self._logged = found.count
            self._log('error', f'{found}. Call reset to begin again')

    def statuses(self) -> list[Status]:
        """Return the state of the simulation; nothing where the server does not report it."""
        status = self._link.status
        if status is None or not self._link.has(EXTENSION):
            return []
        found = status.divergence
        if found is None and not status.fault:
            return [Status('simulation', 'stable', {'divergences': 0})]
        values = {} if found is None else {f'divergence {k}': v for k, v in asdict(found).items()}
        text = f'{found}. Call reset to begin again' if found else status.fault
        return [Status('simulation', text, {**values, 'fault': status.fault}, 'error')]


FEATURE = Feature('divergence', attach=DivergenceReport)
