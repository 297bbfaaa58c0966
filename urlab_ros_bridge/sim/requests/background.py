# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Long computations that run beside a live simulation."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import wait
import threading
import time
from typing import TypeVar

from urlab_ros_bridge.sim.errors import OpError

THREAD = 'compile'  # name of threads that nothing can interrupt
_STOP_CHECK = 0.1  # s; how soon a stop is noticed
_PAUSE = 5e-5  # s; long enough for a waiting thread to take the interpreter
Piece = TypeVar('Piece')
Result = TypeVar('Result')


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


def compiling() -> bool:
    """
    Return whether abandoned work still runs.

    Then the interpreter must not be taken down in order: MuJoCo's memory would go with it.
    """
    return any(thread.name == THREAD for thread in threading.enumerate())


def abandonable(work: Callable[[], Result], draining: Callable[[], bool]) -> Result:
    """
    Return the result of work that nothing can interrupt, such as compiling.

    It is done in a thread that is not waited for when the server drains.

    :raises OpError: shutting_down when the server drains; else what `work` raises.
    """
    done: Future[Result] = Future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=run, name=THREAD, daemon=True).start()
    while not draining():
        if wait([done], _STOP_CHECK).done:
            return done.result()
    raise OpError('shutting_down')
