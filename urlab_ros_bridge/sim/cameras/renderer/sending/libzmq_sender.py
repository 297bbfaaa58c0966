# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The stream of a camera through libzmq, which alone can encrypt it: an XPUB socket."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import framed_payload
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_HELD
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import MAX_SUBSCRIPTION
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import SEND_QUEUE
from urlab_ros_bridge.sim.sockets.subscriptions import Subscriptions
from urlab_ros_bridge.transport.keys import ServerKeys

# Bytes that the kernel takes at a time: what is small stays in the processor's cache on its way
# (a fifth more frames per second than with the default of megabytes).
SEND_BUFFER = 128 * 1024


class LibzmqFrameSender:
    """Sends one camera's frames on an XPUB socket; see `FrameSender`."""

    def __init__(
        self,
        context: zmq.Context,
        camera: CameraItem,
        listener: int,
        keys: ServerKeys,
    ) -> None:
        """
        Begin to accept.

        :param listener: descriptor of the listening socket that the server holds open, so clients
            find the same port again when the renderer had to be restarted.
        :param keys: with which the connections are encrypted.
        """
        self._camera = camera
        self._bare, self._framed = camera.topics
        self.waitable = context.socket(zmq.XPUB)
        self.waitable.linger = 0
        self.waitable.sndhwm = SEND_QUEUE
        self.waitable.sndbuf = SEND_BUFFER
        self.waitable.maxmsgsize = MAX_SUBSCRIPTION
        self.waitable.setsockopt(zmq.XPUB_VERBOSE, 1)  # also the second subscriber is news
        self.waitable.setsockopt(zmq.USE_FD, listener)
        keys.protect(self.waitable)
        self.waitable.bind('tcp://127.0.0.1:*')  # the address is that of the listening socket
        self._subscribed = Subscriptions(self.waitable)
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
        """Send a frame on the topics that are heard, see `FrameSender`."""
        camera, (bare, framed) = self._camera, self._sends
        copy = len(self._trackers) >= MAX_HELD
        trackers: list[zmq.MessageTracker | None] = []
        if bare:
            trackers.append(self._send_parts(self._bare, memory.pixels(camera.index, slot), copy))
        if framed:
            size = camera.width, camera.height
            message = framed_payload(memory, camera.index, slot, size, frame_id, capture)
            trackers.append(self._send_parts(self._framed, message, copy))
        if trackers and not copy:
            self._trackers[slot] = [tracker for tracker in trackers if tracker is not None]

    def _send_parts(
        self, topic: bytes, payload: memoryview, copy: bool
    ) -> zmq.MessageTracker | None:
        self.waitable.send(topic, zmq.SNDMORE | zmq.NOBLOCK)
        return self.waitable.send(payload, zmq.NOBLOCK, copy=copy, track=not copy)


__all__ = ['LibzmqFrameSender']
