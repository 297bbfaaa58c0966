# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the suite on one simulation, that can be killed, stopped and started again."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
from typing import Any
from typing import NamedTuple

from lifelines import start_process

_SIDE = ('camera', 'control', 'info')
# Moves the wall clock of a program by what a file says, for Python cannot be lied to otherwise.
CLOCK = """
import mmap, os, struct, time
_file = os.environ.get('URLAB_TEST_CLOCK')
if _file:
    with open(_file, 'rb') as file:
        _map = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    _time, _time_ns = time.time, time.time_ns
    def _jump():
        return struct.unpack('<d', _map)[0]
    time.time = lambda: _time() + _jump()
    time.time_ns = lambda: _time_ns() + int(_jump() * 1e9)
"""


class Load(NamedTuple):
    """What a program holds."""

    memory_mb: float
    descriptors: int
    threads: int


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    probes = [socket.create_server(('127.0.0.1', 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Programs:
    """
    Server and gateways.

    :ivar ports: by name: rpc, state, chiral, webxr, agents, monitors.
    :ivar lives: how often each program was started.
    """

    NAMES = ('server', 'chiral', 'webxr', 'simspark')

    def __init__(self, folder: Path, world: str) -> None:
        names = ('rpc', 'state', 'chiral', 'webxr', 'agents', 'monitors')
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        self.folder = folder
        self.data = folder / 'data'
        self.lives: dict[str, int] = {}
        self._running: dict[str, Any] = {}
        self.clock = folder / 'clock'
        self.clock.write_bytes(bytes(8))
        (folder / 'sitecustomize.py').write_text(CLOCK)
        (folder / 'profile.yaml').write_text('cameras: []\n')
        rpc = f'--rpc-port={self.ports["rpc"]}'
        state = f'--state-port={self.ports["state"]}'
        self._words = {
            'server': [
                'server', f'--world={world}', rpc, state, '--cameras=off', '--no-shm',
                f'--data-dir={self.data}', *(f'--{name}-port=0' for name in _SIDE),
            ],
            'chiral': ['chiral', rpc, f'--port={self.ports["chiral"]}', '--viewers',
                       f'--profile={folder}/profile.yaml'],
            'webxr': ['webxr', rpc, state, f'--port={self.ports["webxr"]}'],
            'simspark': [
                'simspark', rpc, f'--port={self.ports["agents"]}',
                f'--monitor-port={self.ports["monitors"]}',
            ],
        }  # fmt: skip

    def start(self, name: str) -> None:
        """Start a program and wait until it is ready."""
        self.lives[name] = self.lives.get(name, 0) + 1  # before it can say anything
        self._running[name] = self.spawn(name)
        line = self._running[name].stdout.readline()
        if 'ready' not in line:
            raise RuntimeError(f'{name} did not start: {self.log(name)[-2000:]}')

    def spawn(self, name: str) -> Any:
        """Start a program, beside the one that runs if there is one."""
        path = os.pathsep.join(filter(None, (str(self.folder), os.environ.get('PYTHONPATH'))))
        with (self.folder / f'{name}.log').open('a') as log:
            return start_process(
                [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *self._words[name]],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={
                    **os.environ,
                    'PYTHONUNBUFFERED': '1',
                    'PYTHONPATH': path,
                    'URLAB_TEST_CLOCK': str(self.clock),
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

    def load(self, name: str) -> Load:
        """Return what a program holds now."""
        place = Path(f'/proc/{self.pid(name)}')
        status = dict(
            line.split(':', 1)
            for line in (place / 'status').read_text().splitlines()
            if ':' in line
        )
        return Load(
            int(status['VmRSS'].split()[0]) / 1024,
            len(list((place / 'fd').iterdir())),
            int(status['Threads']),
        )

    def stop(self) -> dict[str, int]:
        """End all politely; return their exit codes."""
        codes = {}
        for name in reversed(self.NAMES):
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
        return codes
