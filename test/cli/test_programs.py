# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs: server and bridge under `urlab up`, and all of them interrupted early."""

import contextlib
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from domains import free_domain
from lifelines import start_process
from ports import free_ports
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import program
from waiting import wait_until

from urlab_ros_bridge.lifeline import tied

pytest.importorskip('mujoco')
FIGURES = re.compile(
    r'status rover: live \| ([\d.]+)x real time \| (\d+) ticks/s \| '
    r'([1-9]\d*) ROS messages/s \| \d+ cameras? \| \d sessions? \([2 ]*urlab_\w+\)$'
)


@pytest.mark.ros
def test_up_runs_server_and_bridge_with_all_figures(monkeypatch):
    pytest.importorskip('rclpy')
    from bridge_harness import Listener
    from nav_msgs.msg import Odometry

    domain = free_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    monkeypatch.setenv('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    ports = free_ports('rpc', 'state', 'camera', 'control', 'info').items()
    words = [f'--{name}-port={port}' for name, port in ports]
    with (
        contextlib.closing(Listener(domain)) as listener,
        program('up', *words, log=subprocess.STDOUT) as (up, line),
    ):
        listener.listen(Odometry, 'odom')  # without it the bridge publishes next to nothing
        deadline = time.monotonic() + 40.0
        output, found = line, None
        # The first second is one of starting programs.
        while not (found and float(found[1]) > 0.5 and int(found[2]) > 100):
            assert line and time.monotonic() < deadline, output
            line = up.stdout.readline()
            output += line
            found = FIGURES.search(line)
        up.send_signal(signal.SIGINT)
        assert up.wait(20) == 0
        output += up.stdout.read()
    assert 'Traceback' not in output and 'killed' not in output


# Of the ports of processes that never get far enough to need them.
FAR = '--port-offset=4000'
# Words with which a program takes no port that somebody else may have, and when it is interrupted.
INTERRUPTED = {
    'server': (0.8, *ANY_PORTS),
    'bridge': (1.5, FAR),
    'chiral': (0.15, '--port=0', FAR),
    'simspark': (0.8, '--port=0', '--monitor-port=0', FAR),
    'webxr': (0.4, '--port=0', FAR),
    'doctor': (0.02,),
}


@pytest.mark.parametrize(
    ('command', 'delay'),
    [
        pytest.param(command, delay, marks=() if delay == usual else pytest.mark.long)
        for command, (usual, *_) in INTERRUPTED.items()
        for delay in (0.02, 0.15, 0.4, 0.8, 1.5)
    ],
)
def test_an_early_interrupt_is_no_traceback(command, delay):
    """As under launch in a terminal: the process is tied to its parent, and Ctrl-C comes twice."""
    words = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', command]
    process = start_process(
        tied([*words, *INTERRUPTED[command][1:]], hold_interrupt=True),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # The lifeline itself has to come to the point where it holds the signal back.
    wait_until(lambda: holds_interrupts(process.pid), every=0.002)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert 'Traceback' not in output and 'KeyboardInterrupt' not in output
    assert process.returncode in (0, 130, -signal.SIGINT), output


def holds_interrupts(pid):
    status = Path(f'/proc/{pid}/status').read_text()
    blocked = re.search(r'SigBlk:\s*(\w+)', status)[1]
    return int(blocked, 16) & 1 << (signal.SIGINT - 1)
