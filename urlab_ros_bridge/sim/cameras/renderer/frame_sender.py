# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The stream of one camera: frames to its subscribers, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
import math

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FRAME_SLOTS
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.link.frame_memory import HEADER_BYTES
from urlab_ros_bridge.sim.cameras.link.messages import port_of
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.transport.publisher import SendTracker
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.wire.camera_frame import pack_header

SEND_QUEUE = 2  # frames per subscriber; one that is slower loses frames
# Bytes that the kernel takes at a time: what is small stays in the processor's cache on its way
# (a fifth more frames per second than with the default of megabytes).
SEND_BUFFER = 128 * 1024
# Frames that wait for subscribers out of the shared memory; what waits besides is copied.
MAX_HELD = FRAME_SLOTS - 3


class FrameSender:
    """
    Sends the frames of one camera; used by one thread.

    :ivar publisher: its socket, which other cameras may share; to be polled for subscriptions.
    """

    def __init__(self, publisher: Publisher, camera: CameraItem) -> None:
        self._camera = camera
        self._bare, self._framed = camera.topics
        self.publisher = publisher
        self._generation = publisher.generation
        self._sends = (False, False)
        self._trackers: dict[int, list[SendTracker]] = {}

    @property
    def is_watched(self) -> bool:
        """Return whether one of the topics has subscribers."""
        return any(self._sends)

    def read_subscriptions(self) -> bool:
        """Process subscriptions; return whether there were any on this socket."""
        self.publisher.read_subscriptions()
        if self.publisher.generation == self._generation:
            return False
        self._generation = self.publisher.generation
        is_subscribed = self.publisher.is_subscribed
        self._sends = (
            is_subscribed(self._bare.decode()),
            is_subscribed(self._framed.decode()),
        )
        return True

    @property
    def slots_in_flight(self) -> set[int]:
        """Return the slots of frames that not all of their subscribers have yet."""
        self._trackers = {
            slot: trackers
            for slot, trackers in self._trackers.items()
            if not all(tracker.done for tracker in trackers)
        }
        return set(self._trackers)

    def send(self, memory: FrameMemory, slot: int, frame_id: int, capture: Capture) -> None:
        """
        Send a frame on the topics that are subscribed to; never wait.

        The pixels are not copied: they leave from the shared memory, and `slots_in_flight` names
        the slot until that is done.  While slow subscribers hold many slots, they are copied.
        """
        camera, publisher, (bare, framed) = self._camera, self.publisher, self._sends
        messages = []
        if bare:
            messages.append((self._bare, memory.pixels(camera.index, slot)))
        if framed:
            whole = memory.framed(camera.index, slot)
            whole[:HEADER_BYTES] = pack_header(
                camera.width, camera.height, frame_id, capture.stamp_ns / 1e9, capture.wall
            )
            messages.append((self._framed, whole))
        if len(self._trackers) < MAX_HELD:
            self._trackers[slot] = [publisher.send_in_place(*message) for message in messages]
        else:
            for message in messages:
                publisher.send(*message)


def open_senders(
    sockets: ServerSockets, cameras: Sequence[CameraItem], listeners: Sequence[int]
) -> list[FrameSender]:
    """
    Begin to accept subscribers; return a sender for each camera.

    :param listeners: descriptors of the listening sockets that the server holds open, so clients
        find the same ports again when the renderer had to be restarted.  More cameras than these
        share them in turns, as `port_of` says.
    """
    each = math.ceil(len(cameras) / max(len(listeners), 1))
    publishers = [
        Publisher.adopt(sockets, listener, send_queue=SEND_QUEUE * each, send_buffer=SEND_BUFFER)
        for listener in listeners
    ]
    return [
        FrameSender(publishers[port_of(camera.index, len(publishers))], camera)
        for camera in cameras
    ]


__all__ = ['FrameSender', 'open_senders']
