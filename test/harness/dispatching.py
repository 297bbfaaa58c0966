# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to a dispatcher without a transport."""

from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding


def dispatch(dispatcher, frame):
    """Answer a frame on the calling thread, however long it takes; return the reply's."""
    accepted = dispatcher.accept(frame)
    while isinstance(accepted, FrameDecoding):
        accepted = dispatcher.read_on(accepted)
    return accepted if isinstance(accepted, bytes) else dispatcher.run(accepted)
