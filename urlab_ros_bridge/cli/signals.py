# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What Ctrl-C does, from the first moment of a program to its last.

While Python imports packages, a KeyboardInterrupt shows as a traceback, or as an ImportError of
whatever was being loaded.  So until a command has its own way to end, SIGINT ends the process as
it ends any program in C.  Imports only the standard library.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import signal
import threading
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Handler = Callable[[int, FrameType | None], None]


def end_at_once() -> None:
    """Let SIGINT end the process at once, from now on."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # The lifeline holds the signal back until now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def kept() -> Iterator[None]:
    """Put back, at the end, what SIGINT, SIGTERM and SIGHUP did before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def raise_on_interrupt() -> None:
    """Let SIGINT raise KeyboardInterrupt, as Python does by default."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupt() -> None:
    """Ignore SIGINT: the program is ending already."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop_by(handler: Handler) -> None:
    """Call a handler on each signal that asks the program to end."""
    for number in STOP_SIGNALS:
        signal.signal(number, handler)


def interrupt_within(seconds: float) -> Handler:
    """
    Return a handler that raises KeyboardInterrupt, once.

    :param seconds: after which the kernel ends a process that hangs on its way out.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds))
        # Ctrl-C in a terminal comes twice under launch: from the terminal and from launch itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    return handler


def raise_on_stop_signals() -> None:
    """Raise KeyboardInterrupt on each signal that asks the program to end, every time."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    stop_by(handler)
