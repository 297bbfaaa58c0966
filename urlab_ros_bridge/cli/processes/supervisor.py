# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Start the processes of the table in order, forward their output, and stop them in reverse."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import os
import signal
from typing import Any

from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.cli.processes.table import RESPAWN_SECONDS
from urlab_ros_bridge.lifeline import tied

STOP_SECONDS = 10.0  # for all processes together; then SIGKILL
MAX_LINE = 1 << 16
KEPT_LINES = 12
# What a killed process has written is in its pipe; a program that it left behind may keep the
# pipe open.
_DRAIN_SECONDS = 1.0


class ProcessSupervisor:
    """
    Runs processes, each in its own task, process group and session.

    They end with this process, even if that is killed.
    """

    def __init__(
        self,
        commands: Sequence[tuple[Process, Sequence[str]]],
        environ: Mapping[str, str],
        on_line: Callable[[str, str], None],
        respawn: bool = False,
        pass_fds: Collection[int] = (),
    ) -> None:
        """
        Start nothing yet.

        :param commands: (process, command line), in order of start.
        :param environ: the whole environment of the processes.
        :param on_line: called with (name, line) for each line of output.
        :param respawn: restart a vital process that ended, after `RESPAWN_SECONDS`.
        :param pass_fds: file descriptors that the processes inherit.
        """
        self._commands = commands
        self._environ = dict(environ)
        self._on_line = on_line
        self._respawn = respawn
        self._pass_fds = tuple(pass_fds)
        self._ready = {process.name: asyncio.Event() for process, _ in commands}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = False

    def pids(self) -> dict[str, int]:
        """Return the process ids of the running processes by name."""
        return {name: child.pid for name, child in self._running.items()}

    async def run(self, stop: asyncio.Event, stop_seconds: float = STOP_SECONDS) -> None:
        """
        Run everything until `stop` is set; when this returns, all processes have ended.

        :raises ChildDied: when a vital process ended and is not restarted.
        """
        tasks = {
            process.name: asyncio.create_task(self._keep_running(process, command))
            for process, command in self._commands
        }
        stopped = asyncio.create_task(stop.wait())
        pending: set[asyncio.Task[Any]] = {stopped, *tasks.values()}
        try:
            while stopped in pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            stopped.cancel()
            await self._stop(tasks, stop_seconds)

    def kill(self) -> None:
        """Kill all processes and what they have started."""
        for child in self._running.values():
            _signal_group(child, signal.SIGKILL)

    async def _stop(self, tasks: dict[str, asyncio.Task[None]], seconds: float) -> None:
        """Stop the last started process first; kill those that exceed their share of the time."""
        self._stopping = True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        left = len(self._running)
        for name in reversed(tasks):
            task, child = tasks[name], self._running.get(name)
            if child is None:
                task.cancel()
                continue
            _signal_group(child, signal.SIGTERM)
            await asyncio.wait([task], timeout=max(0.0, deadline - loop.time()) / left)
            left -= 1
            if name in self._running:
                self._on_line('up', f'{name} did not exit in time; killing it')
                _signal_group(child, signal.SIGKILL)
        await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _keep_running(self, process: Process, command: Sequence[str]) -> None:
        name = process.name
        if process.starts_after in self._ready:
            await self._ready[process.starts_after].wait()
        while not self._stopping:
            how, last_lines = await self._run_once(name, command)
            if self._stopping:
                return
            if not process.vital:
                self._on_line('up', f'{name} {how}')
                return
            if not self._respawn:
                raise ChildDied(name, how, last_lines)
            self._on_line('up', f'{name} {how}; restarting it in {RESPAWN_SECONDS:g} s')
            await asyncio.sleep(RESPAWN_SECONDS)

    async def _run_once(self, name: str, command: Sequence[str]) -> tuple[str, deque[str]]:
        """Run a process to its end; return how it ended, and its last lines."""
        output, theirs = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                *tied(list(command)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=asyncio.subprocess.STDOUT,
                env=self._environ,
                pass_fds=self._pass_fds,
                start_new_session=True,
            )
        finally:
            os.close(theirs)
        self._running[name] = child
        last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        forwarding = asyncio.create_task(self._forward(name, output, last_lines))
        try:
            code = await child.wait()
            _signal_group(child, signal.SIGKILL)  # what it has left behind
            await asyncio.wait([forwarding], timeout=_DRAIN_SECONDS)
        finally:
            forwarding.cancel()
            del self._running[name]
        return _how_it_ended(code), last_lines

    async def _forward(self, name: str, output: int, last_lines: deque[str]) -> None:
        async for line in lines_of(output):
            last_lines.append(line)
            self._on_line(name, line)
            if line.startswith(READY_LINE):
                self._ready[name].set()


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """
    Yield the lines of a pipe until its end, then close it.

    A line longer than `MAX_LINE` bytes comes in pieces.
    """
    reader = asyncio.StreamReader(MAX_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, 'rb', 0)
    )
    try:
        while line := await _read_line(reader):
            yield line.rstrip(b'\r\n').decode('utf-8', 'replace')
    finally:
        transport.close()


async def _read_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil()
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await reader.readexactly(error.consumed)


def _signal_group(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f'was killed by {signal.Signals(-code).name}'
    return f'exited with code {code}'


__all__ = ['KEPT_LINES', 'MAX_LINE', 'STOP_SECONDS', 'ProcessSupervisor', 'lines_of']
