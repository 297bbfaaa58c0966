# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Where frames go: one XPUB socket a camera, two topics, sent only to subscribers."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.files.curve_keys import ServerKeys
from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FRAME_SLOTS
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.link.frame_memory import HEADER_BYTES
from urlab_ros_bridge.sim.requests.subscriptions import Subscriptions
from urlab_ros_bridge.wire.camera_frame import pack_header

# Bytes that the kernel takes at a time: what is small stays in the processor's cache on its way
# (a fifth more frames per second than with the default of megabytes).
SEND_BUFFER = 128 * 1024
SEND_QUEUE = 2  # frames per subscriber; one that is slower loses frames
_MAX_SUBSCRIPTION = 4096  # bytes


class CameraPublisher:
    """
    The stream of one camera.

    :ivar socket: an XPUB socket on the listening socket that the server holds open, so clients
        find the same port again when the renderer had to be restarted.
    """

    def __init__(
        self,
        context: zmq.Context,
        camera: CameraItem,
        listener: int,
        keys: ServerKeys | None = None,
    ) -> None:
        self._camera = camera
        self._bare, self._framed = camera.topics
        self.socket = context.socket(zmq.XPUB)
        self.socket.linger = 0
        self.socket.sndhwm = SEND_QUEUE
        self.socket.sndbuf = SEND_BUFFER
        self.socket.maxmsgsize = _MAX_SUBSCRIPTION
        self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)  # also the second subscriber is news
        self.socket.setsockopt(zmq.USE_FD, listener)
        if keys is not None:
            keys.protect(self.socket)
        self.socket.bind('tcp://127.0.0.1:*')  # the address is that of the listening socket
        self._subscribed = Subscriptions(self.socket)
        self._sends = (False, False)
        self._trackers: dict[int, list[zmq.MessageTracker]] = {}

    @property
    def watched(self) -> bool:
        """Return whether one of the topics has subscribers."""
        return any(self._sends)

    def read(self) -> bool:
        """Read subscriptions; return whether there were any new ones."""
        generation = self._subscribed.generation
        self._subscribed.read()
        if generation == self._subscribed.generation:
            return False
        wanted = self._subscribed.wanted
        self._sends = (wanted(self._bare.decode()), wanted(self._framed.decode()))
        return True

    @property
    def on_the_way(self) -> set[int]:
        """Return the slots of frames that are not yet with all their subscribers."""
        self._trackers = {
            slot: trackers
            for slot, trackers in self._trackers.items()
            if not all(tracker.done for tracker in trackers)
        }
        return set(self._trackers)

    def send(self, memory: FrameMemory, slot: int, frame_id: int, capture: Capture) -> None:
        """
        Send a frame on the topics that are heard; never waits.

        The pixels are not copied: they go out of the shared memory, and `on_the_way` names the
        slot until that is done.  When slow subscribers hold many slots, they are.
        """
        camera, (bare, framed) = self._camera, self._sends
        copy = len(self._trackers) >= FRAME_SLOTS - 3
        trackers: list[zmq.MessageTracker | None] = []
        if bare:
            trackers.append(self._put(self._bare, memory.pixels(camera.index, slot), copy))
        if framed:
            message = memory.framed(camera.index, slot)
            message[:HEADER_BYTES] = pack_header(
                camera.width, camera.height, frame_id, capture.stamp_ns / 1e9, capture.wall
            )
            trackers.append(self._put(self._framed, message, copy))
        if trackers and not copy:
            self._trackers[slot] = [tracker for tracker in trackers if tracker is not None]

    def _put(self, topic: bytes, payload: memoryview, copy: bool) -> zmq.MessageTracker | None:
        self.socket.send(topic, zmq.SNDMORE | zmq.NOBLOCK)
        return self.socket.send(payload, zmq.NOBLOCK, copy=copy, track=not copy)


__all__ = ['CameraPublisher']
