# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The supervisor with real child processes: small Python programs."""

import asyncio
import os
import signal
import sys
import time

from lifelines import ends
from lifelines import has_ended
import pytest

from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.processes import supervisor as module
from urlab_ros_bridge.cli.processes.supervisor import KEPT_LINES
from urlab_ros_bridge.cli.processes.supervisor import ProcessSupervisor
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import READY_LINE

READY = f'print("{READY_LINE}: x", flush=True)\n'
SLEEP = 'import time\ntime.sleep(60)\n'
# A handler must not print: the signal may come while the program prints "up".
POLITE = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"ending\\n"), sys.exit()))
print("up", flush=True)
while True:
    signal.pause()
"""
DEAF = 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("up", flush=True)\n'


class Suite:
    """A supervisor of small programs, and what they have written."""

    def __init__(self, programs, respawn, pass_fds):
        self.output = []
        self.supervisor = ProcessSupervisor(
            [(process, [sys.executable, '-S', '-c', code]) for process, code in programs],
            os.environ,
            lambda name, line: self.output.append((name, line)),
            respawn,
            pass_fds,
        )
        self.stop = asyncio.Event()

    async def until(self, condition):
        async with asyncio.timeout(30.0):
            while not condition():
                await asyncio.sleep(0.01)

    def lines(self, name):
        return [line for each, line in self.output if each == name]


def run(*programs, scenario=None, respawn=False, pass_fds=(), stop_seconds=1.0):
    """Run programs until the scenario, given the suite, has ended; return the suite."""

    async def main():
        suite = Suite(programs, respawn, pass_fds)
        running = asyncio.create_task(suite.supervisor.run(suite.stop, stop_seconds))
        if scenario is not None:
            await scenario(suite)
            suite.stop.set()
        await asyncio.wait_for(running, 30.0)
        assert suite.supervisor.pids() == {}
        return suite

    return asyncio.run(main())


def test_a_vital_process_that_dies_ends_all_with_its_last_lines():
    code = f'for i in range({KEPT_LINES + 5}): print("line", i, flush=True)\n'
    code += 'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)'
    with pytest.raises(ChildDied, match='SIGSEGV') as caught:
        run((Process('server'), code), (Process('bridge'), SLEEP))
    assert f'line {KEPT_LINES + 4}' in str(caught.value) and 'line 4\n' not in str(caught.value)


def test_with_respawn_a_dead_child_comes_back_and_its_followers_are_not_doubled(monkeypatch):
    monkeypatch.setattr(module, 'RESPAWN_SECONDS', 0.2)
    server = (Process('server'), 'import time\ntime.sleep(0.3)\n' + READY + SLEEP)
    bridge = (Process('bridge', starts_after='server'), 'print("hello", flush=True)\n' + SLEEP)

    async def scenario(suite):
        await suite.until(suite.supervisor.pids)
        assert set(suite.supervisor.pids()) == {'server'}  # the other waits until it is ready
        await suite.until(lambda: suite.lines('bridge'))
        first = suite.supervisor.pids()
        os.kill(first['server'], signal.SIGKILL)
        await suite.until(lambda: len(suite.lines('server')) == 2)
        second = suite.supervisor.pids()
        assert second['server'] != first['server'] and second['bridge'] == first['bridge']

    suite = run(server, bridge, respawn=True, scenario=scenario)
    assert len(suite.lines('bridge')) == 1


def test_processes_are_asked_to_end_the_last_one_first():
    async def scenario(suite):
        await suite.until(lambda: len(suite.output) == 2)

    programs = [(Process(name), POLITE) for name in ('server', 'bridge')]
    suite = run(*programs, scenario=scenario, stop_seconds=20.0)
    ends = [name for name, line in suite.output if line == 'ending']
    assert ends == ['bridge', 'server']


def test_processes_that_ignore_signals_are_killed_with_their_children_in_time():
    grandchild = (
        'import subprocess, sys\n'
        'words = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]\n'
        'print(subprocess.Popen(words).pid, flush=True)\n'
    )
    names = ('server', 'bridge', 'rviz', 'more')
    pids = []

    async def scenario(suite):
        await suite.until(lambda: len(suite.output) == 8)
        pids.extend(int(line) for _, line in suite.output if line.isdigit())
        pids.extend(suite.supervisor.pids().values())
        assert all(not has_ended(pid) for pid in pids)
        scenario.began = time.monotonic()

    programs = [(Process(name), DEAF + grandchild + SLEEP) for name in names]
    run(*programs, scenario=scenario)
    assert time.monotonic() - scenario.began < 3.0  # a second for each would be four
    assert all(ends(pid) for pid in pids)
