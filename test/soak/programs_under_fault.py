# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the suite on one simulation, that can be killed, stopped and started again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any

from domains import free_domain
import faulty_interpreter
from lifelines import start_process
from ports import free_ports
import psutil
from waiting import wait_until

_START_SECONDS = 120.0  # on a machine that others load as well
_RENDERER = 'urlab_ros_bridge.sim.cameras.renderer.worker'


class Programs:
    """
    Server, gateways and bridge.

    :ivar names: of the programs.
    :ivar ports: by name: rpc, state, camera (the first), chiral, webxr, agents, monitors.
    :ivar running: processes by name.
    :ivar lives: how often each program was started.
    :ivar domain: ROS domain of the bridge.
    :ivar clock: the file with the error of the wall clock, see `faulty_interpreter`.
    :ivar no_graphics: while this file exists, OpenGL does not work.
    """

    NAMES = ('server', 'chiral', 'webxr', 'simspark', 'bridge')

    def __init__(self, folder: Path, world: str, names: Sequence[str] = NAMES) -> None:
        ports = ('rpc', 'state', 'camera', 'chiral', 'webxr', 'agents', 'monitors')
        self.names = tuple(names)
        self.ports = free_ports(*ports)
        self.folder, self.data = folder, folder / 'data'
        self.lives: Counter[str] = Counter()
        self.running: dict[str, Any] = {}
        self.domain = free_domain()
        self.clock, self.no_graphics = folder / 'clock', folder / 'no_graphics'
        self.clock.write_bytes(bytes(8))
        faulty_interpreter.install(folder)
        os.environ |= {
            'ROS_DOMAIN_ID': str(self.domain),
            'ROS_LOG_DIR': str(folder / 'ros_log'),
            'PYTHONUNBUFFERED': '1',
            'PYTHONPATH': f'{folder}{os.pathsep}{os.environ.get("PYTHONPATH", "")}',
            'URLAB_TEST_CLOCK': str(self.clock),
            'URLAB_TEST_NO_GL': str(self.no_graphics),
            # Memory that each thread keeps for itself would hide a leak.
            'MALLOC_ARENA_MAX': '1',
        }
        (folder / 'profile.yaml').write_text('cameras: []\n')
        rpc = f'--rpc-port={self.ports["rpc"]}'
        state = f'--state-port={self.ports["state"]}'
        self._words = {
            'server': [
                f'--world={world}', rpc, state, f'--camera-port={self.ports["camera"]}',
                '--no-shm', f'--data-dir={self.data}', '--control-port=0', '--info-port=0',
            ],
            'chiral': [rpc, f'--port={self.ports["chiral"]}', '--viewers',
                       f'--profile={folder}/profile.yaml'],
            'webxr': [rpc, state, f'--port={self.ports["webxr"]}'],
            'simspark': [
                rpc, f'--port={self.ports["agents"]}', f'--monitor-port={self.ports["monitors"]}',
            ],
            'bridge': [rpc, state, '--ros-args', '-p', f'data_dir:={self.data}'],
        }  # fmt: skip

    def start(self, name: str) -> None:
        """Start a program and wait until it is ready."""
        self.lives[name] += 1  # before it can say anything
        written = len(self.log(name))
        with (self.folder / f'{name}.log').open('a') as log:
            words = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', name, *self._words[name]]
            process = start_process(words, stdout=subprocess.PIPE, stderr=log, text=True)
        self.running[name] = process

        def is_ready() -> bool:
            assert process.poll() is None, f'{name} did not start: {self.log(name)[-2000:]}'
            return ', robots: ' in self.log(name)[written:]

        if name == 'bridge':
            wait_until(is_ready, _START_SECONDS, f'{name} did not start')
        elif 'ready' not in process.stdout.readline():
            raise RuntimeError(f'{name} did not start: {self.log(name)[-2000:]}')

    def log(self, name: str) -> str:
        """Return what a program has logged."""
        path = self.folder / f'{name}.log'
        return path.read_text(errors='replace') if path.exists() else ''

    def renderer(self) -> int | None:
        """Return the id of the server's renderer process, None when there is none."""
        for child in psutil.Process(self.running['server'].pid).children():
            with contextlib.suppress(psutil.Error):  # it has just ended
                if _RENDERER in child.cmdline():
                    return child.pid
        return None

    @contextlib.contextmanager
    def without(self, name: str) -> Iterator[None]:
        """kill -9 of a program, and a new start after the block."""
        process = self.running[name]
        process.kill()
        process.wait()
        process.stdout.close()
        try:
            yield
        finally:
            self.start(name)

    def stop(self) -> dict[str, int]:
        """End all politely; return their exit codes."""
        codes = {}
        for name, process in reversed(self.running.items()):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
            codes[name] = process.wait()
            process.stdout.close()
        return codes
