# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of one camera's stream, with and without libzmq."""

from __future__ import annotations

from typing import Protocol

import zmq

from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FRAME_SLOTS
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.link.frame_memory import HEADER_BYTES
from urlab_ros_bridge.wire.camera_frame import pack_header

SEND_QUEUE = 2  # frames per subscriber; one that is slower loses frames
MAX_SUBSCRIPTION = 4096  # bytes
# Frames that wait for subscribers out of the shared memory; what waits besides is copied.
MAX_HELD = FRAME_SLOTS - 3


class FrameSender(Protocol):
    """
    Sends the frames of one camera to its subscribers; used by one thread.

    :ivar watched: whether one of the topics has subscribers.
    :ivar on_the_way: the slots of frames that are not yet with all their subscribers.
    :ivar waitable: what `zmq.Poller` finds readable when `read` has something to do.
    """

    @property
    def watched(self) -> bool: ...

    @property
    def on_the_way(self) -> set[int]: ...

    @property
    def waitable(self) -> zmq.Socket[bytes] | int: ...

    def read(self) -> bool:
        """Read subscriptions, send what waits; return whether there were new ones."""

    def send(self, memory: FrameMemory, slot: int, frame_id: int, capture: Capture) -> None:
        """
        Send a frame on the topics that are heard; never waits.

        The pixels are not copied: they go out of the shared memory, and `on_the_way` names the
        slot until that is done.  When slow subscribers hold many slots, they are.
        """


def framed_payload(
    memory: FrameMemory,
    camera: int,
    slot: int,
    size: tuple[int, int],
    frame_id: int,
    capture: Capture,
) -> memoryview:
    """
    Write the UCM1 header before the pixels of a slot; return both in one piece.

    :param size: width and height.
    """
    message = memory.framed(camera, slot)
    message[:HEADER_BYTES] = pack_header(*size, frame_id, capture.stamp_ns / 1e9, capture.wall)
    return message


__all__ = ['MAX_HELD', 'MAX_SUBSCRIPTION', 'SEND_QUEUE', 'FrameSender', 'framed_payload']
