# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import time

from urlab_ros_bridge.cli.child import LIFELINE

PARENT = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-I', '-S', {str(LIFELINE)!r}, str(os.getpid()),
                          sys.executable, '-S', '-c', 'import time; time.sleep(60)'])
time.sleep(0.2)
print(child.pid, flush=True)
time.sleep(60)
"""


def state(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0]
    except FileNotFoundError:
        return 'gone'


def test_a_child_dies_with_a_parent_that_was_killed():
    parent = subprocess.Popen([sys.executable, '-S', '-c', PARENT], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    assert state(child) in 'SR'
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20.0
    while state(child) not in ('gone', 'Z') and time.monotonic() < deadline:
        time.sleep(0.01)
    assert state(child) in ('gone', 'Z')
    parent.stdout.close()


def test_it_does_not_start_when_the_parent_is_gone_already():
    stranger = os.getppid()
    done = subprocess.run(
        [sys.executable, '-I', '-S', str(LIFELINE), str(stranger), 'echo', 'alive'],
        capture_output=True,
    )
    assert done.returncode == 127 and done.stdout == b''


def test_the_program_gets_its_arguments_environment_and_exit_code():
    code = 'import os, sys; print(sys.argv[1:], os.environ["A"]); raise SystemExit(5)'
    words = [sys.executable, '-S', '-c', code, 'x y', '--ros-args']
    done = subprocess.run(
        [sys.executable, '-I', '-S', str(LIFELINE), str(os.getpid()), *words],
        capture_output=True,
        text=True,
        env={**os.environ, 'A': 'b'},
    )
    assert done.returncode == 5
    assert done.stdout.strip() == "['x y', '--ros-args'] b"


def test_signals_reach_the_program_itself():
    process = subprocess.Popen(
        [sys.executable, '-I', '-S', str(LIFELINE), str(os.getpid()), 'sleep', '60']
    )
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20.0) == -signal.SIGTERM
