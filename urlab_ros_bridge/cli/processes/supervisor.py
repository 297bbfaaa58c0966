# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Start the processes of the table in order, pass on their output, and end them in order."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
from dataclasses import dataclass
from dataclasses import field
import os
import select
import signal
import time

from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.processes.child import Child
from urlab_ros_bridge.cli.processes.child import Lines
from urlab_ros_bridge.cli.processes.child import StarvationMeter
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.cli.processes.table import RESPAWN_SECONDS
from urlab_ros_bridge.cli.processes.table import STOP_SECONDS

READ_SIZE = 1 << 16
STATUS_FLAG = '--status-fd'
STARVED_TIMES = 5


@dataclass
class SupervisedProcess:
    """One row of the process table while the supervisor runs."""

    process: Process
    command: Sequence[str]
    child: Child | None = None
    lines: Lines = field(default_factory=Lines)
    figures: Lines = field(default_factory=Lines)
    restart_at: float | None = None
    done: bool = False


class ProcessSupervisor:
    """
    Runs processes in one thread; call `poll` again and again.

    :param commands: (process, command line), in order of start.
    :param environ: whole environment of the children.
    :param on_line: called with (name, line) for each line that a child writes.
    :param on_figures: called with (name, line) for each line of its status pipe.
    :param respawn: start a process that ended again, after `RESPAWN_SECONDS`.
    """

    def __init__(
        self,
        commands: Sequence[tuple[Process, Sequence[str]]],
        environ: Mapping[str, str],
        on_line: Callable[[str, str], None],
        on_figures: Callable[[str, str], None] = lambda name, line: None,
        respawn: bool = False,
    ) -> None:
        self._entries = [SupervisedProcess(process, command) for process, command in commands]
        self._environ = dict(environ)
        self._on_line = on_line
        self._on_figures = on_figures
        self._respawn = respawn
        self._stopping = False

    def __enter__(self) -> ProcessSupervisor:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start every process that waits for no other."""
        names = {entry.process.name for entry in self._entries}
        for entry in self._entries:
            if entry.process.starts_after not in names:
                self._start(entry)

    def pids(self) -> dict[str, int]:
        """Return the process ids of the running children by name."""
        return {e.process.name: e.child.pid for e in self._entries if e.child is not None}

    def poll(self, timeout: float) -> None:
        """
        Pass on the output of the children for up to `timeout` seconds, and handle their ends.

        :raises ChildDied: when a vital process ended and is not started again.
        """
        self._read(timeout)
        for entry in self._entries:
            if entry.child is not None and entry.child.ended():
                self._handle_end(entry, entry.child)
            elif entry.restart_at is not None and time.monotonic() >= entry.restart_at:
                entry.restart_at = None
                self._start(entry)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """
        End all children, the last started first, within `seconds`; then SIGKILL.

        The time in which a child gets no processor does not count, up to `STARVED_TIMES` as much:
        where others compute, its end may take long without hanging.  A KeyboardInterrupt in the
        meantime kills at once.
        """
        self._stopping = True
        left = seconds
        running = [(e, e.child) for e in reversed(self._entries) if e.child is not None]
        try:
            for index, (_, child) in enumerate(running):
                child.signal_group(signal.SIGTERM)
                left -= self._await_end(child, left / (len(running) - index))
        except KeyboardInterrupt:
            self._on_line('up', 'killing the remaining processes')
        finally:
            for entry, child in running:
                self._bury(entry, child)

    def _start(self, entry: SupervisedProcess) -> None:
        flag = STATUS_FLAG if entry.process.reports_status else ''
        entry.lines, entry.figures = Lines(), Lines()
        entry.child = Child(entry.process.name, entry.command, self._environ, flag)

    def _read(self, timeout: float) -> None:
        sources: dict[int, tuple[SupervisedProcess, Child]] = {}
        for entry in self._entries:
            if entry.child is not None:
                sources[entry.child.output] = entry, entry.child
                if entry.child.status is not None:
                    sources[entry.child.status] = entry, entry.child
        ends = [entry.restart_at for entry in self._entries if entry.restart_at is not None]
        timeout = min([timeout, *(max(0.0, end - time.monotonic()) for end in ends)])
        if not sources:
            time.sleep(timeout)
            return
        for descriptor in select.select(list(sources), [], [], timeout)[0]:
            self._read_output(*sources[descriptor], descriptor)

    def _read_output(self, entry: SupervisedProcess, child: Child, descriptor: int) -> None:
        data = b''
        with contextlib.suppress(BlockingIOError):
            data = os.read(descriptor, READ_SIZE)
        if descriptor == child.status:
            for line in entry.figures.feed(data):
                self._on_figures(entry.process.name, line)
            return
        if not data and not child.ended():
            time.sleep(0.01)  # it closed its output and lives on: do not spin on the end of file
        for line in entry.lines.feed(data):
            self._handle_line(entry, child, line)

    def _handle_line(self, entry: SupervisedProcess, child: Child, line: str) -> None:
        child.last_lines.append(line)
        self._on_line(entry.process.name, line)
        if not line.startswith(READY_LINE) or self._stopping:
            return
        for other in self._entries:
            waits = other.child is None and other.restart_at is None and not other.done
            if other.process.starts_after == entry.process.name and waits:
                self._start(other)

    def _await_end(self, child: Child, seconds: float) -> float:
        """Wait for a child; return how much of `seconds` it took."""
        began, starved, used = time.monotonic(), StarvationMeter(child.pid), 0.0
        while not child.ended() and used < seconds:
            self._read(0.02)
            passed = time.monotonic() - began
            used = passed - min(starved.seconds(), STARVED_TIMES * seconds)
        return used

    def _drain(self, entry: SupervisedProcess, child: Child) -> None:
        while select.select([child.output], [], [], 0)[0]:
            try:
                data = os.read(child.output, READ_SIZE)
            except BlockingIOError:
                return
            for line in entry.lines.feed(data) if data else entry.lines.flush():
                self._handle_line(entry, child, line)
            if not data:
                return

    def _bury(self, entry: SupervisedProcess, child: Child) -> None:
        """Kill what is left of a child's group, pass on its last lines and let it go."""
        if not child.ended():
            self._on_line('up', f'{entry.process.name} did not exit in time; killing it')
        child.reap()
        self._drain(entry, child)
        child.close()
        entry.child = None

    def _handle_end(self, entry: SupervisedProcess, child: Child) -> None:
        self._bury(entry, child)
        name, how = child.name, child.how_it_ended()
        if not entry.process.vital:
            entry.done = True
            self._on_line('up', f'{name} {how}')
        elif self._respawn:
            entry.restart_at = time.monotonic() + RESPAWN_SECONDS
            self._on_line('up', f'{name} {how}; restarting it in {RESPAWN_SECONDS:g} s')
        else:
            raise ChildDied(name, how, child.last_lines)
