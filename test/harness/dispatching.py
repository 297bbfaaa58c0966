# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to a dispatcher without a transport."""


def dispatch(dispatcher, frame):
    """Answer a frame on the calling thread, however long it takes; return the reply's."""
    accepted = dispatcher.accept(frame)
    return accepted if isinstance(accepted, bytes) else accepted.run()
