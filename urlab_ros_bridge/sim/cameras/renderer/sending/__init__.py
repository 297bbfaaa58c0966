# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How frames leave the renderer over ZeroMQ."""

from __future__ import annotations

from collections.abc import Sequence

import zmq

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import FrameSender
from urlab_ros_bridge.sim.cameras.renderer.sending.libzmq_sender import LibzmqFrameSender
from urlab_ros_bridge.sim.cameras.renderer.sending.zmtp_sender import ZmtpFrameSender
from urlab_ros_bridge.transport.keys import ServerKeys


def open_senders(
    cameras: Sequence[CameraItem], listeners: Sequence[int], keys: ServerKeys | None
) -> tuple[list[FrameSender], object]:
    """
    Begin to accept subscribers of all cameras.

    :param listeners: descriptor of each camera's listening socket.
    :param keys: None without encryption.
    :return: a sender for each camera, and what has to be kept as long as they are used.
    """
    pairs = zip(cameras, listeners, strict=True)
    if keys is None:
        return [ZmtpFrameSender(camera, listener) for camera, listener in pairs], None
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    doorkeeper = keys.start_doorkeeper(context)
    return [LibzmqFrameSender(context, camera, listener, keys) for camera, listener in pairs], (
        context,
        doorkeeper,
    )


__all__ = ['open_senders']
