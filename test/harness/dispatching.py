# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to a dispatcher without a transport."""

import math

from urlab_ros_bridge.sim.transports.dispatcher import FrameDecoding

# s that a request which repeats may take on the short way; less than 0: none takes it.
MOST = math.inf


def dispatch(dispatcher, frame):
    """Answer a frame on the calling thread, however long it takes; return the reply's."""
    accepted = dispatcher.repeat(frame, MOST) or dispatcher.accept(frame)
    while isinstance(accepted, FrameDecoding):
        accepted = dispatcher.read_on(accepted)
    return accepted if isinstance(accepted, bytes) else dispatcher.run(accepted)
