# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Where frames go: one XPUB socket a camera, two topics, nothing sent that nobody hears."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.memory import Capture
from urlab_ros_bridge.sim.publish.subscriptions import Subscriptions
from urlab_ros_bridge.wire.camera_frame import pack_header

SEND_QUEUE = 2  # frames per subscriber; one that is slower loses frames
_MAX_SUBSCRIPTION = 4096  # bytes


class Outlet:
    """
    The stream of one camera.

    :ivar socket: an XPUB socket on the listening socket that the server holds open, so clients
        find the same port again when the renderer had to be started anew.
    """

    def __init__(self, context: zmq.Context, camera: CameraItem, listener: int) -> None:
        self._camera = camera
        self._bare, self._framed = camera.topics
        self.socket = context.socket(zmq.XPUB)
        self.socket.linger = 0
        self.socket.sndhwm = SEND_QUEUE
        self.socket.maxmsgsize = _MAX_SUBSCRIPTION
        self.socket.setsockopt(zmq.USE_FD, listener)
        self.socket.bind('tcp://127.0.0.1:*')  # the address is that of the listening socket
        self._subscribed = Subscriptions(self.socket)
        self._sends = (False, False)

    @property
    def watched(self) -> bool:
        """Say whether anybody hears one of the topics."""
        return any(self._sends)

    def read(self) -> bool:
        """Take in subscriptions; return whether `watched` may have changed."""
        generation = self._subscribed.generation
        self._subscribed.read()
        if generation == self._subscribed.generation:
            return False
        wanted = self._subscribed.wanted
        self._sends = (wanted(self._bare.decode()), wanted(self._framed.decode()))
        return True

    def send(self, pixels: memoryview, frame_id: int, capture: Capture) -> None:
        """Send a frame on the topics that are heard; never waits."""
        bare, framed = self._sends
        if bare:
            self._put(self._bare, pixels)
        if framed:
            camera = self._camera
            header = pack_header(
                camera.width, camera.height, frame_id, capture.stamp_ns / 1e9, capture.wall
            )
            self._put(self._framed, b''.join((header, pixels)))

    def _put(self, topic: bytes, payload: bytes | memoryview) -> None:
        self.socket.send(topic, zmq.SNDMORE | zmq.NOBLOCK)
        self.socket.send(payload, zmq.NOBLOCK)


__all__ = ['Outlet']
