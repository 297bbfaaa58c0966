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
import os
import signal
import sys
import threading
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130  # as a shell reports SIGINT
Handler = Callable[[int, FrameType | None], None]

# What is still starting when the program is to end gets so much time (s).
_STARTING = 1.0
# What a command takes down when it is asked to end gets so much (s).
_UNWINDING = 10.0
_JOIN_SECONDS = 0.05


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


def unwind_on_stop() -> None:
    """
    Let what was begun be taken down when the program is to end.

    SIGINT raises KeyboardInterrupt, as Python does by default; the others SystemExit with the code
    that a shell reports, instead of ending the process where it stands.
    """
    if threading.current_thread() is not threading.main_thread():
        return

    def handler(number: int, frame: FrameType | None) -> None:
        kill_after(_UNWINDING)
        raise SystemExit(128 + number)

    stop_by(handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupt() -> None:
    """Ignore SIGINT: the program is ending already."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop_by(handler: Handler) -> None:
    """Call a handler on each signal that asks the program to end; nohup keeps SIGHUP ignored."""
    for number in STOP_SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def interrupt_within(seconds: float) -> Handler:
    """
    Return a handler that raises KeyboardInterrupt, once.

    :param seconds: after which the kernel ends a process that hangs on its way out.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        kill_after(seconds)
        # Ctrl-C in a terminal comes twice under launch: from the terminal and from launch itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    return handler


class StopRequest:
    """
    Notes the signals that ask the program to end.

    They interrupt no code: an exception in the middle of an import or a finaliser would show as a
    traceback.  Who waits for something looks at `came` from time to time.

    :ivar came: whether there was one.
    """

    def __init__(self) -> None:
        """Note signals from now on."""
        self.came = False
        stop_by(self._note_signal)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self.came = True

    def start(self, begin: Callable[[], None]) -> None:
        """
        Call a function that may take long, and end the process when a signal comes meanwhile.

        What `begin` raises is raised.
        """
        raised: list[BaseException] = []

        def run() -> None:
            try:
                begin()
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run, name='start', daemon=True)
        thread.start()
        while thread.is_alive() and not self.came:
            thread.join(_JOIN_SECONDS)
        thread.join(_STARTING)
        if thread.is_alive():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        if raised:
            raise raised[0]


def kill_after(seconds: float) -> None:
    """Let the kernel end this process unless it has ended until then."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(seconds))


def raise_on_stop_signals() -> None:
    """Raise KeyboardInterrupt on each signal that asks the program to end, every time."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    stop_by(handler)
