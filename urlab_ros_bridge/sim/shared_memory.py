# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Shared memory of the server: its directory, requests, state and camera images.

There is one pair of request regions for stock clients, which know no other, as a stock server has
it.  Two clients on one pair would write over each other's requests, so a client of this project
asks for a pair of its own in its hello (`shm_channel`).
"""

from __future__ import annotations

from functools import partial
import logging
from pathlib import Path
import threading
import time
from typing import Any
import uuid

from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.sim.cameras.demand import Reason
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.observe.shm_state import ShmStatePublisher
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import WorldService
from urlab_ros_bridge.transport.router import Accept
from urlab_ros_bridge.transport.shm.directory import camera_file
from urlab_ros_bridge.transport.shm.directory import reply_file
from urlab_ros_bridge.transport.shm.directory import request_file
from urlab_ros_bridge.transport.shm.directory import SessionDirectory
from urlab_ros_bridge.transport.shm.region import HEADER_BYTES
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import REPLY_STRIDE
from urlab_ros_bridge.transport.shm.region import REQUEST_STRIDE
from urlab_ros_bridge.transport.shm.region import SIZE_BYTES
from urlab_ros_bridge.transport.shm.region import SLOTS
from urlab_ros_bridge.transport.shm.server import FIRST_FILL
from urlab_ros_bridge.transport.shm.server import LargeReplies
from urlab_ros_bridge.transport.shm.server import OpenWatch
from urlab_ros_bridge.transport.shm.server import RegionServer
from urlab_ros_bridge.wire.errors import RegionUnavailable

MAX_CAMERAS = 64
_LOG = logging.getLogger(__name__)


class CameraRegions:
    """The regions of a world's cameras, a `WorldService`.  Make it before the renderer."""

    def __init__(self, rig: CameraRig, directory: Path, watch: OpenWatch) -> None:
        """Make the files; they take memory when first opened."""
        self._rig = rig
        self._watch = watch
        self._open: set[int] = set()
        self._warned = False
        for item in rig.items[:MAX_CAMERAS]:
            path = camera_file(directory, item.prefix, item.name)
            try:
                region = Region.create(path, item.size + SIZE_BYTES, reserve=0)
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
            self._rig.demand(Reason.SHM, self._open)


MAX_CHANNELS = 16
GRACE = 10.0  # s that a channel waits for its client


class _Nothing:
    """A service that is not needed or could not be made."""

    def close(self) -> None:
        """Do nothing."""


class SharedMemoryService:
    """
    The session directory and the threads that serve it.

    :ivar path: of the directory, absolute.
    :ivar large: replies that did not fit.
    """

    def __init__(self) -> None:
        """
        Make the directory.

        :raises RegionUnavailable: when there is no place for it.
        """
        self._directory = SessionDirectory()
        self.path: Path = self._directory.path
        self.large = LargeReplies()
        self._watch = OpenWatch()
        self._watch.start()
        self._lock = threading.Lock()
        self._channels: dict[str, RegionServer] = {}
        self._accept: Accept | None = None
        self._log = LimitedLog(_LOG)

    def serve(self, accept: Accept) -> None:
        """Answer requests from now on."""
        self._accept = accept
        try:
            with self._lock:
                self._open('', accept)
        except RegionUnavailable as error:
            _LOG.warning('no requests through shared memory: %s', error)

    def state_publisher(self, simulation: Simulation) -> WorldService:
        """Return the publisher of a world's state; one that does nothing when there is no room."""
        try:
            return ShmStatePublisher(
                simulation.engine, simulation.observer, self.path, self._watch
            )
        except RegionUnavailable as error:
            _LOG.warning('no state in shared memory: %s', error)
            return _Nothing()

    def camera_regions(self, simulation: Simulation) -> WorldService:
        """Return the regions of a world's cameras; nothing when they are off."""
        if simulation.config.cameras == 'off':
            return _Nothing()
        return CameraRegions(simulation.cameras, self.path, self._watch)

    def open_channel(self) -> str:
        """
        Make a pair of regions for one client, and return its name; '' when there cannot be one.

        It goes when its client has it no longer open.
        """
        with self._lock:
            self._channels = {
                name: channel for name, channel in self._channels.items() if channel.is_alive()
            }
            if self._accept is None or len(self._channels) > MAX_CHANNELS:
                return ''
            name = uuid.uuid4().hex[:8]
            try:
                self._open(name, self._accept)
            except RegionUnavailable as error:
                self._log.warning('no shared-memory channel for a client: %s', error)
                return ''
            return name

    def rpc_block(self) -> dict[str, Any]:
        """Return the field `shm_rpc` of the handshake: the regions that a stock client uses."""
        if '' not in self._channels:
            return {}
        block = {
            'session': self.path.name,
            'req_path': str(request_file(self.path)),
            'rep_path': str(reply_file(self.path)),
            # Names of Windows events in the plugin; here a client polls the sequence number.
            'req_event': '',
            'rep_event': '',
            'req_stride': REQUEST_STRIDE,
            'rep_stride': REPLY_STRIDE,
            'n_buffers': SLOTS,
            'header_size': HEADER_BYTES,
        }
        return {'shm_rpc': block}

    def close(self) -> None:
        """Answer what runs, then remove everything.  Call after the engine began draining."""
        self._accept = None
        with self._lock:
            channels, self._channels = self._channels, {}
        for channel in channels.values():
            channel.stop()
        self._watch.close()
        self._directory.close()

    def _open(self, name: str, accept: Accept) -> None:
        """Serve the pair of a name, '' is the stock one."""
        requests = Region.create(request_file(self.path, name), REQUEST_STRIDE)
        try:
            replies = Region.create(reply_file(self.path, name), REPLY_STRIDE, reserve=FIRST_FILL)
        except RegionUnavailable:
            requests.path.unlink(missing_ok=True)
            requests.close()
            raise
        began = time.monotonic()

        def has_ended() -> bool:
            return time.monotonic() - began > GRACE and not requests.shared()

        def watched() -> bool:
            return self._watch.is_open(requests)

        channel = RegionServer(
            accept,
            requests,
            replies,
            self.large,
            watched,
            has_ended if name else None,
        )
        self._channels[name] = channel
        self._watch.add(requests, channel.opened)
        self._watch.add(replies)
        channel.start()


def offer_shared_memory(config: ServerConfig) -> SharedMemoryService | None:
    """Return the server's shared memory, None when it is off or there is no place for it."""
    if not config.shm:
        return None
    try:
        return SharedMemoryService()
    except RegionUnavailable as error:
        _LOG.warning('no shared memory: %s', error)
        return None
