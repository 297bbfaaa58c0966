# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server as a process of its own, and a stock client in this one."""

import os
from pathlib import Path
import re
import signal
import sys
import time

from lifelines import start_process
import pytest
import zmq

from urlab_ros_bridge.wire.encoding import codec

PORTS = ('rpc', 'state', 'camera', 'control', 'info')


class Process:
    """`urlab server` on free ports."""

    def __init__(self, folder, *words):
        command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', *words]
        command += [f'--{name}-port=0' for name in PORTS]
        environment = {**os.environ, 'XDG_RUNTIME_DIR': str(folder)}
        self.process = start_process(
            [*command, '--cameras=off'], stdout=-1, text=True, env=environment
        )
        self.rpc = re.search(r'rpc=(\S+)', self.process.stdout.readline())[1]
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.linger, self.socket.rcvtimeo = 0, 5000
        self.socket.connect(self.rpc)

    def ask(self, op, **fields):
        self.socket.send(codec.pack({'op': op, **fields}))
        return codec.unpack(self.socket.recv(), 1 << 30)

    def kill(self, number=signal.SIGKILL):
        self.socket.close(0)
        self.process.send_signal(number)
        self.process.wait(10)
        self.process.stdout.close()

    def close(self):
        if self.process.returncode is None:
            self.kill()

    def cpu(self):
        fields = Path(f'/proc/{self.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def wakes(self):
        """Return how often its threads have gone to sleep so far."""
        tasks = Path(f'/proc/{self.process.pid}/task').glob('*/status')
        lines = [line for task in tasks for line in task.read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith('voluntary_ctxt'))


@pytest.fixture
def start(tmp_path, keep):
    return lambda *words: keep(Process(tmp_path, *words))


def test_killed_server_leaves_a_directory_that_the_next_start_removes(start):
    first = start()
    left = Path(first.ask('hello')['shm_session_dir'])
    second = start()
    assert left.exists(), 'its server was running'
    first.kill()
    assert left.exists()
    third = start()
    assert not left.exists()
    for server in (second, third):
        assert Path(server.ask('hello')['shm_session_dir']).exists()


def test_idle_server_does_not_poll(start):
    """Direct mode: nothing runs but the idle beat, ten times a second."""
    server = start()
    server.ask('hello')
    time.sleep(0.5)
    began, wakes, cpu = time.monotonic(), server.wakes(), server.cpu()
    time.sleep(1.0)
    wakes, cpu, took = server.wakes() - wakes, server.cpu() - cpu, time.monotonic() - began
    assert wakes < 40 * took and cpu < 0.25 * took
