# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One loop in two threads, which run it in turns and never at the same time.

A scheduler shares processors among threads.  Beside programs that compute, a thread that answers
one request after the other uses up its share and has to wait, where a library with a thread for
the network and one for the work has two shares.  With a relay such a loop has two as well, and
nothing in it needs a lock.
"""

from __future__ import annotations

from collections.abc import Callable
import threading


class Relay:
    """Runs turns until one of them says that it was the last."""

    def __init__(self, turn: Callable[[], bool], name: str) -> None:
        """
        Prepare.

        :param turn: returns whether there is another one, which is the other thread's.
        :param name: of the second thread, which starts after the first turn.
        """
        self._turn = turn
        self._ended = False
        self._batons = threading.Lock(), threading.Lock()
        self._second = threading.Thread(target=self._run, args=(1,), name=name, daemon=True)

    def run(self) -> None:
        """Run all turns, every other one in this thread."""
        self._batons[1].acquire()
        self._run(0)
        if self._second.ident is not None:
            self._second.join()

    def _run(self, number: int) -> None:
        mine, other = self._batons[number], self._batons[1 - number]
        try:
            while mine.acquire() and not self._ended and self._turn():
                if self._second.ident is None:
                    self._second.start()
                other.release()
        finally:
            if not self._ended:
                self._ended = True
                other.release()


__all__ = ['Relay']
