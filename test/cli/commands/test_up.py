# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab up` as a program, with small programs in place of server and bridge."""

import contextlib
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from lifelines import ends
from lifelines import start_process
from ports import free_ports
import pytest

from urlab_ros_bridge.cli.processes.table import READY_LINE

SERVER = f'import time\nprint("{READY_LINE}: x", flush=True)\ntime.sleep(60)'
BRIDGE = """
import os, sys, time
print('pids', os.getpid(), os.getppid(), flush=True)
pipe = next(int(w.partition('=')[2]) for w in sys.argv if w.startswith('--status-fd='))
while True:
    os.write(pipe, b'{"messages_per_s": 1234, "connected": true, "state": "connected"}\\n')
    time.sleep(0.2)
"""
DRIVER = """
import sys
from urlab_ros_bridge.cli import status
from urlab_ros_bridge.cli.commands import up
from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.cli.processes.table import Process

programs = {programs!r}
status.PLAIN_SECONDS = 0.5
up.PROCESSES = (Process('server', command='x'),
                Process('bridge', command='x', starts_after='server', reports_status=True))
up.command_line = lambda process, values, more=(): [
    sys.executable, '-S', '-c', programs[process.name], *more]
sys.exit(main(['up', *sys.argv[1:]]))
"""


def start(server=SERVER, bridge=BRIDGE, words=(), stdout=subprocess.PIPE):
    ports = free_ports('rpc', 'state', 'camera')
    driver = DRIVER.format(programs={'server': server, 'bridge': bridge})
    return start_process(
        [
            sys.executable,
            '-c',
            driver,
            *(f'--{name}-port={port}' for name, port in ports.items()),
            *words,
        ],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT if stdout is subprocess.PIPE else stdout,
        text=True,
    )


def read_until(stream, pattern, seconds=30.0):
    deadline = time.monotonic() + seconds
    output = ''
    while time.monotonic() < deadline:
        output += stream.readline()
        if found := re.search(pattern, output):
            return found
    raise AssertionError(f'{pattern} did not come: {output}')


@pytest.fixture
def running():
    started = []

    def run(**kwargs):
        started.append(start(**kwargs))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_without_error(running, number):
    up = running()
    bridge = int(read_until(up.stdout, r'pids (\d+) ')[1])
    up.send_signal(number)
    assert up.wait(20) == 0
    assert ends(bridge)
    assert 'Traceback' not in up.stdout.read()


def test_nothing_is_left_when_it_is_killed(running):
    up = running()
    bridge, parent = map(int, read_until(up.stdout, r'pids (\d+) (\d+)').groups())
    assert parent == up.pid
    children = [bridge, *_children(up.pid)]
    assert len(set(children)) == 2
    up.kill()
    assert all(ends(pid) for pid in children)


def _children(parent):
    found = []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(')')[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found
