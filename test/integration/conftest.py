# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs on free ports and a ROS domain of their own."""

import contextlib
import os
from pathlib import Path
import re
import signal
import subprocess
import sys

from lifelines import start_process
import pytest

sys.path.insert(0, str(Path(__file__).parent))

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

    @property
    def client(self):
        from urlab_ros_bridge.client.client import Client

        if self._client is None:
            self._client = Client('127.0.0.1', self.ports[0], shared=True)
            self._client.connect()
        return self._client

    def now_ns(self, later=0.0):
        """Return the time of the simulation, plus so many seconds."""
        return self.client.status().sim_time_ns + round(later * 1e9)

    @contextlib.contextmanager
    def in_use(self):
        """Let time pass in a with block only: a paused world costs other tests nothing."""
        self.client.set_paused(False)
        yield self
        if self.process.poll() is None:
            self.client.set_paused(True)

    def stop(self):
        if self._client is not None:
            self._client.close()
        return super().stop()


class Simulations:
    """Servers, bridges and listeners, each simulation on a ROS domain of its own."""

    def __init__(self, programs):
        self._programs = programs
        self._listeners = []

    def start(self, *words, **parameters):
        from bridge_harness import free_domain
        from bridge_harness import Listener

        domain = free_domain()
        self._listeners.append(Listener(domain))
        running = ServerProgram(*words)
        self._programs.append(running)
        values = {'rpc_port': running.ports[0], 'state_port': running.ports[1], **parameters}
        ros = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
        bridge = Program(
            'urlab_ros_bridge.ros.program.main',
            '--ros-args',
            *ros,
            environment={'ROS_DOMAIN_ID': str(domain)},
        )
        self._programs.append(bridge)
        return running, bridge, self._listeners[-1]

    def close(self):
        for listener in self._listeners:
            listener.close()


@contextlib.contextmanager
def ended():
    """Yield a list; programs in it are ended at the end, the last one first."""
    started = []
    try:
        yield started
    finally:
        for program in reversed(started):
            program.stop()


@pytest.fixture
def programs():
    """Return a list; programs in it are ended after the test."""
    with ended() as started:
        yield started


@pytest.fixture(scope='module')
def lasting_server():
    """Return a function that starts a server for all tests of a module."""
    with ended() as started:

        def start(*words):
            started.append(ServerProgram(*words))
            return started[-1]

        yield start


@pytest.fixture
def bridge_to():
    """
    Return a function: server, parameters -> listener to a bridge in this process.

    For what the bridge does with its parameters; to start a process for it costs three times as
    much.
    """
    from bridge_harness import Bridge
    from bridge_harness import free_domain
    from bridge_harness import Listener

    with contextlib.ExitStack() as opened:

        def start(running, **parameters):
            opened.enter_context(running.in_use())
            domain = free_domain()
            listener = opened.enter_context(contextlib.closing(Listener(domain)))
            bridge = Bridge(domain, running, **parameters)
            opened.enter_context(contextlib.closing(bridge))
            return listener

        yield start


@pytest.fixture
def server(programs):
    """Return a function that starts a server: words, ports."""

    def start(*words, ports=(0, 0)):
        programs.append(ServerProgram(*words, ports=ports))
        return programs[-1]

    return start


@pytest.fixture
def simulation(programs):
    """Return a function: words of the server, parameters -> (server, bridge, listener)."""
    simulations = Simulations(programs)
    yield simulations.start
    simulations.close()


@pytest.fixture(scope='module')
def lasting_simulation():
    """Return `simulation` for all tests of a module, which leave it as they found it."""
    with ended() as started:
        simulations = Simulations(started)
        yield simulations.start
        simulations.close()


@pytest.fixture
def observer(keep):
    """Return a function that opens a client beside the bridge."""

    def start(server):
        from urlab_ros_bridge.client.client import Client

        client = keep(Client('127.0.0.1', server.ports[0], shared=True))
        client.connect()
        return client

    return start
