# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled server as a program of its own, on free ports, with a world made for the checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
import os
from pathlib import Path
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

from urlab_ros_bridge.conformance.peer import Places
from urlab_ros_bridge.wire.errors import UrlabError

WORLD = Path(__file__).parent / 'world' / 'proving_ground.xml'
READY = 'urlab server ready'
PORTS = ('--rpc-port', '--state-port', '--camera-port', '--control-port', '--info-port')
# Becomes the server, which then ends also when this process is killed.
LIFELINE = 'urlab_ros_bridge.lifeline'
START_SECONDS = 30.0
STOP_SECONDS = 10.0


class ServerFailed(UrlabError):
    """The bundled server did not come up."""

    def __init__(self, output: str) -> None:
        super().__init__(f'the bundled server did not start: {output.strip() or "no output"}')


class LocalServer:
    """A running `urlab server`."""

    def __init__(self, data_dir: Path, *options: str) -> None:
        command = [sys.executable, '-m', LIFELINE, str(os.getpid())]
        command += [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server']
        command += ['--model', str(WORLD), '--data-dir', str(data_dir), '--editor']
        command += [word for option in PORTS for word in (option, '0')]
        command += options
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        assert self._process.stdout is not None  # it is a pipe
        self._output = self._process.stdout
        try:
            self.places = self._ready()
        except BaseException:
            self.stop()
            raise

    def _ready(self) -> Places:
        """Wait for the line that names the endpoints."""
        end, said = time.monotonic() + START_SECONDS, b''
        while time.monotonic() < end:
            if select.select([self._output], [], [], 0.2)[0]:
                line = self._output.readline()
                if not line:
                    break
                said += line
                if line.startswith(READY.encode()):
                    return places_of(line.decode())
        raise ServerFailed(said.decode(errors='replace'))

    def begin_stop(self) -> None:
        """Ask the server to end."""
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """End the server and wait for it."""
        if self._process.poll() is None:
            self.begin_stop()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()


def places_of(line: str) -> Places:
    """
    Read the ready line.

    >>> places_of('urlab server ready: rpc=tcp://127.0.0.1:7 state=tcp://127.0.0.1:8').rpc
    'tcp://127.0.0.1:7'
    """
    found = dict(re.findall(r'(\w+)=(tcp://\S+)', line))
    return Places(
        '127.0.0.1',
        found.get('rpc', ''),
        found.get('state', ''),
        found.get('control', ''),
        found.get('info', ''),
    )


@contextmanager
def local_server(*options: str) -> Iterator[LocalServer]:
    """Run the bundled server for a while; its files go to a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix='urlab-conformance-') as folder:
        server = LocalServer(Path(folder), *options)
        try:
            yield server
        finally:
            server.stop()
