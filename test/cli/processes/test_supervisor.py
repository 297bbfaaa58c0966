# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The supervisor with real child processes: small Python programs."""

import os
import signal
import sys
import time

from lifelines import ends
from lifelines import has_ended
from lifelines import start_process
import pytest

from urlab_ros_bridge.cli.errors import ChildDied
from urlab_ros_bridge.cli.processes.child import KEPT_LINES
from urlab_ros_bridge.cli.processes.child import Lines
from urlab_ros_bridge.cli.processes.child import MAX_LINE
from urlab_ros_bridge.cli.processes.child import StarvationMeter
from urlab_ros_bridge.cli.processes.supervisor import ProcessSupervisor
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import READY_LINE

READY = f'print("{READY_LINE}: x", flush=True)\n'
SLEEP = 'import time\ntime.sleep(60)\n'
# Tells when it gets the polite signal; `{}` is the time it then takes.
# A handler must not print: the signal may come while the program prints "up".
POLITE = """
import os, signal, sys, time
def end(number, frame):
    os.write(1, f"ending {{time.monotonic()}}\\n".encode())
    time.sleep({})
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
while True:
    time.sleep(0.05)
"""
# Computes for as many seconds of processor time before it ends.
SLOW = """
import os, signal, sys, time
def end(number, frame):
    began = time.process_time()
    while time.process_time() - began < {}:
        pass
    os.write(1, b"done\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
while True:
    time.sleep(0.05)
"""
DEAF = 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("up", flush=True)\n'


class House:
    """A supervisor over small programs, and what it heard."""

    def __init__(self, *programs, respawn=False):
        self.heard = []
        self.figures = []
        commands = [(process, [sys.executable, '-S', '-c', code]) for process, code in programs]
        self.supervisor = ProcessSupervisor(
            commands,
            os.environ,
            lambda name, line: self.heard.append((name, line)),
            lambda name, line: self.figures.append((name, line)),
            respawn,
        )

    def __enter__(self):
        self.supervisor.start()
        return self

    def __exit__(self, *exc_info):
        self.supervisor.stop(1.0)

    def until(self, true, seconds=30.0):
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f'in vain; heard {self.heard}'
            self.supervisor.poll(0.05)

    def lines(self, name):
        return [line for who, line in self.heard if who == name]


def test_lines_of_a_child_arrive_in_order_and_whole():
    code = 'import sys\nfor i in range(3000): print("line", i, "x" * 50)\n' + SLEEP
    with House(
        (Process('a'), code.replace('\nimport time', '\nsys.stdout.flush()\nimport time'))
    ) as house:
        house.until(lambda: len(house.heard) == 3000)
    assert [int(line.split()[1]) for line in house.lines('a')] == list(range(3000))


def test_one_waits_for_the_ready_line_of_the_other():
    server = (Process('server'), 'import time\ntime.sleep(0.3)\n' + READY + SLEEP)
    bridge = (Process('bridge', starts_after='server'), 'print("hello", flush=True)\n' + SLEEP)
    with House(server, bridge) as house:
        assert set(house.supervisor.pids()) == {'server'}
        house.until(lambda: house.lines('bridge'))
    names = [name for name, _ in house.heard]
    assert names == ['server', 'bridge']


def test_a_vital_child_that_dies_is_reported_with_code_and_last_lines():
    code = f'for i in range({KEPT_LINES + 5}): print("line", i)\nraise SystemExit(3)'
    with House((Process('server'), code)) as house, pytest.raises(ChildDied) as caught:
        house.until(lambda: False)
    said = str(caught.value)
    assert 'server exited with code 3' in said
    assert f'line {KEPT_LINES + 4}' in said and 'line 4\n' not in said


def test_a_crash_is_reported_with_the_name_of_the_signal():
    code = 'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)'
    with House((Process('server'), code)) as house, pytest.raises(ChildDied, match='SIGSEGV'):
        house.until(lambda: False)


def test_a_program_that_cannot_start_is_reported():
    house = House((Process('rviz'), ''))
    house.supervisor._entries[0].command = ['/no/such/program']
    with house, pytest.raises(ChildDied, match=r'cannot start /no/such/program: No such file'):
        house.until(lambda: False)


def test_a_child_that_is_not_vital_may_end():
    closed = (Process('rviz', vital=False), 'raise SystemExit(0)')
    with House((Process('server'), SLEEP), closed) as house:
        house.until(lambda: ('up', 'rviz exited with code 0') in house.heard)
        assert set(house.supervisor.pids()) == {'server'}


def test_with_respawn_a_dead_child_comes_back_and_its_followers_are_not_doubled(monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.cli.processes.supervisor.RESPAWN_SECONDS', 0.2)
    server = (Process('server'), READY + SLEEP)
    bridge = (Process('bridge', starts_after='server'), 'print("hello", flush=True)\n' + SLEEP)
    with House(server, bridge, respawn=True) as house:
        house.until(lambda: house.lines('bridge'))
        first = house.supervisor.pids()
        os.kill(first['server'], signal.SIGKILL)
        house.until(lambda: len(house.lines('server')) == 2)
        house.supervisor.poll(0.3)
        second = house.supervisor.pids()
    assert second['server'] != first['server']
    assert second['bridge'] == first['bridge']
    assert len(house.lines('bridge')) == 1
    assert 'restarting it in 0.2 s' in ' '.join(house.lines('up'))


def test_children_end_in_reverse_order_one_after_the_other():
    programs = [(Process(name), POLITE.format(0.2)) for name in ('server', 'bridge', 'rviz')]
    with House(*programs) as house:
        house.until(lambda: len(house.heard) == 3)
        house.supervisor.stop()
    ends = {name: float(line.split()[1]) for name, line in house.heard if line != 'up'}
    assert ends['rviz'] + 0.2 <= ends['bridge'] and ends['bridge'] + 0.2 <= ends['server']
    assert house.supervisor.pids() == {}


def test_deaf_children_are_killed_within_the_time_with_what_they_started():
    grandchild = (
        'import subprocess, sys\n'
        'words = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]\n'
        'print(subprocess.Popen(words).pid, flush=True)\n'
    )
    names = ('server', 'bridge', 'rviz', 'more')
    programs = [(Process(name), DEAF + grandchild + SLEEP) for name in names]
    with House(*programs) as house:
        house.until(lambda: len(house.heard) == 8)
        pids = [int(line) for _, line in house.heard if line.isdigit()]
        pids += house.supervisor.pids().values()
        assert all(not has_ended(pid) for pid in pids)
        before = time.monotonic()
        house.supervisor.stop(1.0)
        assert time.monotonic() - before < 3.0  # a second for each would be four
    assert all(ends(pid) for pid in pids)
    assert 'server did not exit in time' in ' '.join(house.lines('up'))


@pytest.fixture
def crowded():
    """Share one processor with programs that compute, for all that is started meanwhile."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    # Where Linux groups programs by session, each needs its own, as children have.
    words = [sys.executable, '-S', '-c', 'while True: pass']
    loops = [start_process(words, start_new_session=True) for _ in range(8)]
    yield
    os.sched_setaffinity(0, allowed)
    for loop in loops:
        loop.kill()
        loop.wait()


def test_time_without_a_processor_does_not_count(crowded):
    with House((Process('a'), SLOW.format(0.25))) as house:
        house.until(lambda: house.lines('a'))
        before = time.monotonic()
        house.supervisor.stop(1.0)
        assert time.monotonic() - before > 1.0  # else there was no crowd
    assert house.lines('a') == ['up', 'done'] and not house.lines('up')


def test_who_computes_is_starved_beside_others_and_who_sleeps_is_not(crowded):
    meters = []
    for code in ('while True: pass', 'import time\ntime.sleep(60)'):
        process = start_process([sys.executable, '-S', '-c', code], start_new_session=True)
        time.sleep(0.5)  # until the second one sleeps
        meters.append((process, StarvationMeter(process.pid)))
    (busy, starved), (idle, content) = meters
    deadline = time.monotonic() + 30.0
    while starved.seconds() < 0.2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert content.seconds() < 0.1
    for process in (busy, idle):
        process.kill()
        process.wait()
    assert starved.seconds() >= 0.2  # also when it has ended


def test_figures_come_through_their_own_pipe():
    code = (
        'import os, sys, time\n'
        'fd = int(sys.argv[1].partition("=")[2])\n'
        'os.write(fd, b"{\\"messages_per_s\\": 7}\\n")\n'
        'print("log", flush=True)\ntime.sleep(60)'
    )
    with House((Process('bridge', reports_status=True), code)) as house:
        house.until(lambda: house.figures and house.heard)
    assert house.figures == [('bridge', '{"messages_per_s": 7}')]
    assert house.heard == [('bridge', 'log')]


def test_a_child_that_closes_its_output_does_not_make_the_supervisor_spin():
    code = 'import os\nprint("bye", flush=True)\nos.close(1)\nos.close(2)\n' + SLEEP
    with House((Process('a'), code)) as house:
        house.until(lambda: house.heard)
        polls, began = 0, time.monotonic()
        while (took := time.monotonic() - began) < 0.5:
            house.supervisor.poll(0.1)
            polls += 1
        assert polls <= took / 0.01 + 1  # the end of the file is always there: it waits 10 ms


def test_an_endless_line_is_cut():
    lines = Lines()
    assert lines.feed(b'x' * MAX_LINE) == []
    assert lines.feed(b'x') == ['x' * (MAX_LINE + 1)]
    assert lines.feed(b'a\r\nb') == ['a']
    assert lines.flush() == ['b']
    assert lines.flush() == []
