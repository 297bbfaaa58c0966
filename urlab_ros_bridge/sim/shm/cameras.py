# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
cam_*.shm: one region a camera, which the renderer writes while a client has it open.

The files are made here, because the server's process knows which are open; the renderer's process
gets their descriptors.
"""

from __future__ import annotations

from functools import partial
import logging
from pathlib import Path

from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.transport.shm.files import camera_file
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import SIZE_BYTES
from urlab_ros_bridge.transport.shm.watch import OpenWatch
from urlab_ros_bridge.wire.errors import RegionUnavailable

MAX_CAMERAS = 64
_LOG = logging.getLogger(__name__)


class CameraRegions:
    """The regions of one world's cameras; see `stage.WorldPart`.  Make it before the renderer."""

    def __init__(self, rig: CameraRig, directory: Path, watch: OpenWatch) -> None:
        """Make the files; they take memory when first opened."""
        self._rig = rig
        self._watch = watch
        self._open: set[int] = set()
        self._warned = False
        for item in rig.items[:MAX_CAMERAS]:
            path = camera_file(directory, item.prefix, item.name)
            try:
                region = Region.create(path, item.size + SIZE_BYTES, sparse=True)
            except RegionUnavailable as error:
                _LOG.warning('no camera images in shared memory: %s', error)
                break
            rig.regions[item.index] = region
        for index, region in rig.regions.items():
            watch.add(region, partial(self._changed, index))

    def close(self) -> None:
        """Remove the files; the renderer has ended."""
        for region in self._rig.regions.values():
            self._watch.remove(region)
            region.path.unlink(missing_ok=True)
            region.close()
        self._rig.regions.clear()

    def _withdraw(self, index: int, error: RegionUnavailable) -> None:
        """Offer a region no longer, as there is no memory for it: clients use ZeroMQ."""
        self._rig.regions[index].path.unlink(missing_ok=True)
        if not self._warned:
            self._warned = True
            _LOG.warning(
                'no room for camera images in shared memory (%s): they are sent over ZeroMQ', error
            )

    def _changed(self, index: int, is_open: bool) -> None:
        """Handle what the watching thread saw."""
        before = set(self._open)
        if is_open and index not in before:
            try:
                self._rig.regions[index].fill()
            except RegionUnavailable as error:
                self._withdraw(index, error)
                return
            self._open.add(index)
        elif not is_open:
            self._open.discard(index)
        if before != self._open:
            self._rig.read_regions(self._open)


__all__ = ['CameraRegions']
