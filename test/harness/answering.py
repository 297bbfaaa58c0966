# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server of a few lines, in a thread."""

from contextlib import contextmanager
import threading


@contextmanager
def answering(turn):
    """Call `turn`, which answers a request or waits for one a moment, until the block ends."""
    over = threading.Event()

    def serve():
        while not over.is_set():
            turn()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
