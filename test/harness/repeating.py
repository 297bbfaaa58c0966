# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What goes on beside a test, in a thread."""

from contextlib import contextmanager
import threading


@contextmanager
def repeating(turn):
    """Call `turn`, which takes a moment, again and again until the block ends."""
    over = threading.Event()

    def repeat():
        while not over.is_set():
            turn()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
