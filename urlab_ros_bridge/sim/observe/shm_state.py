# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state stream in shared memory: the snapshots of state.shm.

The session directory reports which files are open, so nothing is built without readers.  All
methods run with the engine's lock held.
"""

from __future__ import annotations

import logging
from pathlib import Path

from urlab_ros_bridge.sim.observe.observer import Observer
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.directory import STATE_FILE
from urlab_ros_bridge.transport.shm.region import SIZE_BYTES
from urlab_ros_bridge.transport.shm.region import STATE_STRIDE
from urlab_ros_bridge.transport.shm.server import OpenWatch

_LOG = logging.getLogger(__name__)


class ShmStatePublisher:
    """Publishes the ticks of one world; see `simulation.WorldService`."""

    def __init__(
        self, engine: Engine, observer: Observer, directory: Path, watch: OpenWatch
    ) -> None:
        """
        Make the file; one of the world before is replaced.

        :raises RegionUnavailable: when there is no room for it.
        """
        self._engine = engine
        self._observer = observer
        self._watch = watch
        self._served = self._complained = False
        with engine.lock:
            size = len(observer.snapshot())
        self._writer = RegionWriter.create(directory / STATE_FILE, stride_for(size))
        watch.add(self._writer.region, lambda is_open: None)
        engine.hooks.publish.append(self.publish)

    def publish(self, with_rows: bool) -> None:
        """Write one tick; see `EngineHooks.publish`."""
        writer = self._writer
        if not self._watch.is_open(writer.region):
            if self._served:
                # The next reader must not take this state for a new one.
                self._served = False
                writer.forget()
            return
        self._served = True
        snapshot = self._observer.snapshot()
        if len(snapshot) <= writer.capacity:
            writer.write(snapshot, self._engine.clock.stamp_ns)
        elif not self._complained:
            self._complained = True
            _LOG.warning(
                'the state has %d bytes, %s has room for %d: nothing is written there',
                len(snapshot),
                STATE_FILE,
                writer.capacity,
            )

    def close(self) -> None:
        """Remove the file: readers see that the world has ended."""
        self._watch.remove(self._writer.region)
        self._writer.close(unlink=True)


def stride_for(size: int) -> int:
    """
    Return the stride for snapshots of about this many bytes.

    >>> stride_for(1000), stride_for(9000)
    (16384, 32768)
    """
    stride = STATE_STRIDE
    while stride < 2 * (size + SIZE_BYTES):
        stride *= 2
    return stride
