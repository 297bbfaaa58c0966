# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the suite on one simulation, that can be killed, stopped and started again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any
from typing import NamedTuple

import faulty_interpreter
from lifelines import start_process
from ports import free_ports
import psutil

from urlab_ros_bridge.testing.domains import take_domain

_SIDE = ('control', 'info')
_START_SECONDS = 120.0  # on a machine that others load as well
_RENDERER = 'urlab_ros_bridge.sim.cameras.renderer.worker'


class Load(NamedTuple):
    """What a program holds."""

    memory_mb: float
    descriptors: int
    threads: int


class Programs:
    """
    Server, gateways and bridge.

    :ivar names: of the programs.
    :ivar ports: by name: rpc, state, camera (the first), chiral, webxr, agents, monitors.
    :ivar lives: how often each program was started.
    :ivar domain: ROS domain of the bridge, None without one.
    :ivar no_graphics: while this file exists, OpenGL does not work.
    """

    GATEWAYS = ('chiral', 'webxr', 'simspark')
    NAMES = ('server', *GATEWAYS, 'bridge')

    def __init__(self, folder: Path, world: str, names: Sequence[str] = NAMES) -> None:
        ports = ('rpc', 'state', 'camera', 'chiral', 'webxr', 'agents', 'monitors')
        self.names = tuple(names)
        self.ports = free_ports(*ports)
        self.folder = folder
        self.data = folder / 'data'
        self.lives: dict[str, int] = {}
        self._began: dict[str, list[float]] = {}
        self._running: dict[str, Any] = {}
        self._taken = take_domain() if 'bridge' in names else None
        self.domain = self._taken.number if self._taken is not None else None
        self.clock = folder / 'clock'
        self.clock.write_bytes(bytes(8))
        self.no_graphics = folder / 'no_graphics'
        faulty_interpreter.install(folder)
        (folder / 'profile.yaml').write_text('cameras: []\n')
        rpc = f'--rpc-port={self.ports["rpc"]}'
        state = f'--state-port={self.ports["state"]}'
        self._words = {
            'server': [
                'server', f'--world={world}', rpc, state, f'--camera-port={self.ports["camera"]}',
                '--no-shm', f'--data-dir={self.data}', *(f'--{name}-port=0' for name in _SIDE),
            ],
            'chiral': ['chiral', rpc, f'--port={self.ports["chiral"]}', '--viewers',
                       f'--profile={folder}/profile.yaml'],
            'webxr': ['webxr', rpc, state, f'--port={self.ports["webxr"]}'],
            'simspark': [
                'simspark', rpc, f'--port={self.ports["agents"]}',
                f'--monitor-port={self.ports["monitors"]}',
            ],
            'bridge': ['bridge', rpc, state, '--ros-args', '-p', f'data_dir:={self.data}'],
        }  # fmt: skip

    def start(self, name: str) -> None:
        """Start a program and wait until it is ready."""
        self.lives[name] = self.lives.get(name, 0) + 1  # before it can say anything
        self._began.setdefault(name, []).append(time.time())
        written = len(self.log(name))
        self._running[name] = self.spawn(name)
        if name == 'bridge':
            self._wait_for_bridge(written)
        elif 'ready' not in self._running[name].stdout.readline():
            raise RuntimeError(f'{name} did not start: {self.log(name)[-2000:]}')

    def life_at(self, name: str, when: float) -> int:
        """Return which life of a program it was (or the one before had ended) at a unix time."""
        return bisect_right(self._began[name], when)

    def _wait_for_bridge(self, written: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while ', robots: ' not in self.log('bridge')[written:]:
            if not self.is_alive('bridge') or time.monotonic() > deadline:
                raise RuntimeError(f'bridge did not start: {self.log("bridge")[-2000:]}')
            time.sleep(0.05)

    def spawn(self, name: str) -> Any:
        """Start a program, beside the one that runs if there is one."""
        path = os.pathsep.join(filter(None, (str(self.folder), os.environ.get('PYTHONPATH'))))
        domain = {} if self.domain is None else {'ROS_DOMAIN_ID': str(self.domain)}
        with (self.folder / f'{name}.log').open('a') as log:
            return start_process(
                [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *self._words[name]],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={
                    **os.environ,
                    **domain,
                    'ROS_LOG_DIR': str(self.folder / 'ros_log'),
                    'PYTHONUNBUFFERED': '1',
                    'PYTHONPATH': path,
                    'URLAB_TEST_CLOCK': str(self.clock),
                    'URLAB_TEST_NO_GL': str(self.no_graphics),
                    # Memory that each thread keeps for itself would hide a leak.
                    'MALLOC_ARENA_MAX': '1',
                },
            )

    def log(self, name: str) -> str:
        """Return what a program has logged."""
        path = self.folder / f'{name}.log'
        return path.read_text(errors='replace') if path.exists() else ''

    def pid(self, name: str) -> int:
        """Return the id of a program."""
        return self._running[name].pid

    def renderer(self) -> int | None:
        """Return the id of the server's renderer process, None when there is none."""
        for child in psutil.Process(self.pid('server')).children():
            try:
                if _RENDERER in child.cmdline():
                    return child.pid
            except psutil.Error:  # it has just ended
                continue
        return None

    def is_alive(self, name: str) -> bool:
        """Return whether a program has not ended."""
        return self._running[name].poll() is None

    def kill(self, name: str) -> None:
        """End a program without a word."""
        process = self._running[name]
        process.kill()
        process.wait()
        process.stdout.close()

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal."""
        self._running[name].send_signal(number)

    def stop(self) -> dict[str, int]:
        """End all politely; return their exit codes."""
        codes = {}
        for name in reversed(self.names):
            process = self._running.get(name)
            if process is None:
                continue
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            codes[name] = process.returncode
            process.stdout.close()
        if self._taken is not None:
            self._taken.close()
        return codes


def load_of(pid: int) -> Load:
    """
    Return what a process holds now.

    :raises OSError: when there is none.
    """
    place = Path(f'/proc/{pid}')
    status = dict(
        line.split(':', 1) for line in (place / 'status').read_text().splitlines() if ':' in line
    )
    return Load(
        int(status['VmRSS'].split()[0]) / 1024,
        len(list((place / 'fd').iterdir())),
        int(status['Threads']),
    )
