# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Long work beside a running simulation."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import time
from typing import TypeVar

from urlab_ros_bridge.sim.errors import OpError

_PAUSE = 5e-5  # s; long enough for a waiting thread to take the interpreter
Piece = TypeVar('Piece')


def yielding(pieces: Iterable[Piece], draining: Callable[[], bool]) -> Iterator[Piece]:
    """
    Pass pieces of work on and pause after each.

    A thread that computes keeps Python's interpreter for 5 ms at a time, which would slow a live
    loop down to 200 steps a second.  With pieces of half a millisecond it hardly notices.

    :raises OpError: shutting_down when the server drains.
    """
    for piece in pieces:
        if draining():
            raise OpError('shutting_down')
        yield piece
        time.sleep(_PAUSE)
