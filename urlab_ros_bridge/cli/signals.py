# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Handle the signals that end a program (SIGINT, SIGTERM, SIGHUP).

A KeyboardInterrupt while Python imports packages shows as a traceback or as an ImportError.  Until
a command installs its own handlers, SIGINT therefore ends the process as it ends a program in C.
Imports only the standard library.
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

# After a signal: how long a start may continue, and how long clean-up may take (s).
_START_SECONDS = 1.0
_CLEANUP_SECONDS = 10.0
_JOIN_SECONDS = 0.05


def end_at_once() -> None:
    """Make SIGINT end the process at once."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # The lifeline has blocked the signal until now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def ending_at_once() -> Iterator[None]:
    """
    Make SIGINT end the process at once during a block, if it would raise KeyboardInterrupt.

    For imports: a package in C++ turns the exception into an ImportError.
    """
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not raises or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def restored_handlers() -> Iterator[None]:
    """Restore the handlers of SIGINT, SIGTERM and SIGHUP at the end."""
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
    Raise exceptions on signals, so that `finally` and `with` blocks clean up.

    SIGINT raises KeyboardInterrupt, as Python does by default; the others raise SystemExit with
    the code that a shell reports.
    """
    if threading.current_thread() is not threading.main_thread():
        return

    def handler(number: int, frame: FrameType | None) -> None:
        kill_after(_CLEANUP_SECONDS)
        raise SystemExit(128 + number)

    handle_stop_signals(handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupt() -> None:
    """Ignore SIGINT while the program ends."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop_signals() -> list[signal.Signals]:
    """Return the signals that ask this program to end; under nohup SIGHUP is none."""
    ignores_hangup = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [each for each in STOP_SIGNALS if each != signal.SIGHUP or not ignores_hangup]


def handle_stop_signals(handler: Handler) -> None:
    """Install a handler for each signal that asks the program to end."""
    for number in stop_signals():
        signal.signal(number, handler)


def interrupt_within(seconds: float) -> Handler:
    """
    Return a handler that raises KeyboardInterrupt, once.

    :param seconds: time for clean-up, after which the kernel kills the process.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        kill_after(seconds)
        # Ctrl-C in a terminal comes twice under launch: from the terminal and from launch itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    return handler


class StopRequest:
    """
    Records the signals that ask the program to end.

    They interrupt no code: an exception in the middle of an import or a finaliser would show as a
    traceback.  Poll `received` while you wait for something.

    :ivar received: whether there was one.
    """

    def __init__(self) -> None:
        """Install the handlers."""
        self.received = False
        handle_stop_signals(self._record_signal)

    def _record_signal(self, number: int, frame: FrameType | None) -> None:
        self.received = True

    def start(self, begin: Callable[[], None]) -> None:
        """
        Call a function in a thread; a signal in the meantime ends the process.

        Exceptions of `begin` are raised here.
        """
        raised: list[BaseException] = []

        def run() -> None:
            try:
                begin()
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run, name='start', daemon=True)
        thread.start()
        while thread.is_alive() and not self.received:
            thread.join(_JOIN_SECONDS)
        thread.join(_START_SECONDS)
        if thread.is_alive():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        if raised:
            raise raised[0]


def kill_after(seconds: float) -> None:
    """Make the kernel kill this process if it still runs after so many seconds."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(seconds))
