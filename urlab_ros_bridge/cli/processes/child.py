# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One child process: its output as lines, its status pipe, its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import os
import signal
import subprocess
import time

from urlab_ros_bridge.lifeline import tied

MAX_LINE = 1 << 16
KEPT_LINES = 12


class Lines:
    """Cut a byte stream into lines; an endless line is cut at `MAX_LINE` bytes."""

    def __init__(self) -> None:
        self._rest = b''

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without their ends."""
        *whole, self._rest = (self._rest + data).split(b'\n')
        if len(self._rest) > MAX_LINE:
            whole.append(self._rest)
            self._rest = b''
        return [line.rstrip(b'\r').decode('utf-8', 'replace') for line in whole]

    def flush(self) -> list[str]:
        """Return the last line, when the stream ended without a line end."""
        return self.feed(b'\n') if self._rest else []


class StarvationMeter:
    """
    How long a process waited for a processor while it had something to do (Linux, else never).

    The time that its slowest thread waited counts: the others may wait for that one.
    """

    def __init__(self, pid: int) -> None:
        self._folder = f'/proc/{pid}/task'
        self._began = time.monotonic()
        self._waits = self._read()
        self._seconds = 0.0

    def seconds(self) -> float:
        """Return it since the meter began; call it again and again, as threads end."""
        before, self._waits = self._waits, self._read()
        added = max((now - before.get(name, 0) for name, now in self._waits.items()), default=0)
        self._seconds = min(self._seconds + added / 1e9, time.monotonic() - self._began)
        return self._seconds

    def _read(self) -> dict[str, int]:
        """Return what each thread has waited in all (ns), see sched-stats in Linux's manual."""
        found: dict[str, int] = {}
        with contextlib.suppress(OSError):
            for name in os.listdir(self._folder):
                path = f'{self._folder}/{name}/schedstat'
                with (
                    contextlib.suppress(OSError, ValueError, IndexError),
                    open(path, encoding='ascii') as file,
                ):
                    found[name] = int(file.read().split()[1])
        return found


class Child:
    """
    A running program in its own process group, tied to this process by the lifeline.

    :param command: program and arguments.
    :param environ: its whole environment.
    :param status_flag: option for where the program writes its figures, or empty.
    :ivar output: file descriptor of stdout and stderr together, non-blocking.
    :ivar status: file descriptor of the figures, or None.
    """

    def __init__(
        self, name: str, command: Sequence[str], environ: Mapping[str, str], status_flag: str = ''
    ) -> None:
        self.name = name
        self.started = time.monotonic()
        self.last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.status: int | None = None
        inherited: tuple[int, ...] = ()
        words = list(command)
        if status_flag:
            self.status, theirs = os.pipe()
            inherited = (theirs,)
            words = with_option(words, f'{status_flag}={theirs}')
        try:
            self._process = subprocess.Popen(
                tied(words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(environ),
                pass_fds=inherited,
                start_new_session=True,
            )
        finally:
            for descriptor in inherited:
                os.close(descriptor)
        assert self._process.stdout is not None
        self._stdout = self._process.stdout
        self.output = self._stdout.fileno()
        os.set_blocking(self.output, False)
        if self.status is not None:
            os.set_blocking(self.status, False)

    @property
    def pid(self) -> int:
        """Return the process id, which is that of its group too."""
        return self._process.pid

    def ended(self) -> bool:
        """Return whether the program has ended; it is not reaped, so its group keeps its id."""
        if self._process.returncode is not None:
            return True
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, flags) is not None

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the program and what it has started; not after `reap`."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def reap(self) -> None:
        """Kill what is left of the program's group and wait for the program."""
        self.signal_group(signal.SIGKILL)
        self._process.wait()

    def how_it_ended(self) -> str:
        """Return the end in words: 'ended with code 3', 'was killed by SIGSEGV'."""
        code = self._process.returncode
        if code is None:
            return 'is running'
        if code < 0:
            return f'was killed by {signal.Signals(-code).name}'
        return f'exited with code {code}'

    def close(self) -> None:
        """Close our ends of its pipes."""
        self._stdout.close()
        if self.status is not None:
            os.close(self.status)
            self.status = None


def with_option(command: Sequence[str], option: str) -> list[str]:
    """
    Return the command with an option of its own, before any ROS arguments.

    >>> with_option(['bridge', '--ros-args', '-p', 'a:=1'], '--status-fd=5')
    ['bridge', '--status-fd=5', '--ros-args', '-p', 'a:=1']
    """
    words = list(command)
    place = words.index('--ros-args') if '--ros-args' in words else len(words)
    return [*words[:place], option, *words[place:]]
