# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs on free ports and a ROS domain of their own."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys

from lifelines import start_process
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / 'ros'))

ROOT = Path(__file__).parents[2]


class Program:
    """One of our programs as a process; its output goes to the test's."""

    def __init__(self, module, *words, environment=None):
        self.command = (module, *words)
        self.process = start_process(
            [sys.executable, '-u', '-m', module, *map(str, words)],
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdout.close()
        return self.process.returncode


class ServerProgram(Program):
    """urlab server; `ports` are rpc and state."""

    def __init__(self, *words, ports=(0, 0)):
        super().__init__(
            'urlab_ros_bridge.cli.main',
            'server',
            '--rpc-port',
            ports[0],
            '--state-port',
            ports[1],
            '--camera-port',
            0,
            *words,
        )
        line = self.process.stdout.readline()
        found = re.search(r'rpc=\S+:(\d+) state=\S+:(\d+)', line)
        assert found, f'no ready line: {line!r}'
        self.ports = [int(port) for port in found.groups()]
        self._client = None

    def now_ns(self, later=0.0):
        """Return the time of the simulation, plus so many seconds."""
        from urlab_ros_bridge.client.client import Client

        if self._client is None:
            self._client = Client('127.0.0.1', self.ports[0], shared=True)
            self._client.connect()
        return self._client.status().sim_time_ns + round(later * 1e9)

    def stop(self):
        if self._client is not None:
            self._client.close()
        return super().stop()


@pytest.fixture
def programs():
    """Return a list; programs in it are ended after the test."""
    started = []
    yield started
    for program in reversed(started):
        program.stop()


@pytest.fixture(scope='module')
def lasting_server():
    """Return a function that starts a server for all tests of a module."""
    started = []

    def start(*words):
        started.append(ServerProgram(*words))
        return started[-1]

    yield start
    for program in started:
        program.stop()


@pytest.fixture
def server(programs):
    """Return a function that starts a server: words, ports."""

    def start(*words, ports=(0, 0)):
        programs.append(ServerProgram(*words, ports=ports))
        return programs[-1]

    return start


@pytest.fixture
def simulation(programs, server):
    """Return a function: words of the server, parameters -> (server, bridge, listener)."""
    from bridge_harness import free_domain
    from bridge_harness import Listener

    listeners = []

    def start(*words, **parameters):
        domain = free_domain()
        listeners.append(Listener(domain))
        running = server(*words)
        values = {'rpc_port': running.ports[0], 'state_port': running.ports[1], **parameters}
        ros = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
        programs.append(
            Program(
                'urlab_ros_bridge.ros.program.main',
                '--ros-args',
                *ros,
                environment={'ROS_DOMAIN_ID': str(domain)},
            )
        )
        return running, programs[-1], listeners[-1]

    yield start
    for listener in listeners:
        listener.close()
