# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs: the server with its physics, and server and bridge under `urlab up`."""

import os
import re
import signal
import subprocess
import sys
import time

from domains import free_domain
from lifelines import start_process
from ports import free_ports
import pytest

from urlab_ros_bridge.cli.processes.table import READY_LINE
from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.lifeline import tied

pytest.importorskip('mujoco')
LISTEN = """
import rclpy
from nav_msgs.msg import Odometry

rclpy.init()
node = rclpy.create_node('listener')
node.create_subscription(Odometry, 'odom', lambda message: None, 10)
rclpy.spin(node)
"""
# Of the ports of processes that never get far enough to need them.
FREE_OFFSET = 4000
NAMES = ('rpc', 'state', 'camera', 'control', 'info')
SIDE_PORTS = ('--control-port=0', '--info-port=0')
ANY_PORTS = ('--rpc-port=0', '--state-port=0', '--camera-port=0', *SIDE_PORTS)


def start(*words, environ=None):
    return start_process(
        [
            sys.executable,
            *(() if words[0] == '-c' else ('-m', 'urlab_ros_bridge.cli.main')),
            *words,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environ or {})},
        text=True,
    )


def ready_ports(server):
    """Wait for the ready line and return the ports that it names."""
    output = ''
    while READY_LINE not in output:
        line = server.stdout.readline()
        assert line, server.stderr.read()
        output += line
    return [int(port) for port in re.findall(r':(\d+)', output.rpartition(READY_LINE)[2])]


@pytest.fixture
def program():
    started = []

    def run(*words, **kwargs):
        started.append(start(*words, **kwargs))
        return started[-1]

    yield run
    for process in started:
        # Politely first: a killed ROS process leaves its shared memory behind.
        process.terminate()
        try:
            process.communicate(timeout=6.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_the_server_says_when_it_is_ready_and_ends_on_a_signal(program, number):
    server = program('server', *ANY_PORTS)
    ports = ready_ports(server)
    with Client('127.0.0.1', ports[0], shared=True, name='test') as client:
        status = client.status()
    assert (status.mode, status.world, status.paused) == ('live', 'rover', False)
    server.send_signal(number)
    assert server.wait(20) == 0
    assert 'Traceback' not in server.stderr.read()


@pytest.mark.ros
def test_up_runs_server_and_bridge_with_all_figures(program):
    pytest.importorskip('rclpy')
    words = [f'--{name}-port={port}' for name, port in free_ports(*NAMES).items()]
    environ = {'ROS_DOMAIN_ID': str(free_domain()), 'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
    up = program('up', *words, environ=environ)
    # Without a listener the bridge publishes next to nothing.
    program('-c', LISTEN, environ=environ)
    figures = None
    deadline = time.monotonic() + 40.0
    output = ''
    while not figures and time.monotonic() < deadline:
        line = up.stdout.readline()
        assert line, output
        output += line
        found = re.search(
            r'status rover: live \| ([\d.]+)x real time \| (\d+) ticks/s \| '
            r'([1-9]\d*) ROS messages/s \| \d+ cameras? \| \d sessions? \([2 ]*urlab_\w+\)$',
            line,
        )
        # The first second is one of starting programs.
        figures = found if found and float(found[1]) > 0.5 and int(found[2]) > 100 else None
    assert figures, output
    up.send_signal(signal.SIGINT)
    assert up.wait(20) == 0
    rest = up.stdout.read() + up.stderr.read()
    assert 'Traceback' not in output + rest and 'killed' not in rest


# Words with which a program takes no port that somebody else may have.
INTERRUPTED = {
    'server': ANY_PORTS,
    'bridge': (f'--port-offset={FREE_OFFSET}',),
    'chiral': ('--port=0', f'--port-offset={FREE_OFFSET}'),
    'simspark': ('--port=0', '--monitor-port=0', f'--port-offset={FREE_OFFSET}'),
    'webxr': ('--port=0', f'--port-offset={FREE_OFFSET}'),
    'doctor': (),
}
DELAYS = (0.02, 0.15, 0.4, 0.8, 1.5)
# One delay for each program and each of them at least once; all of all with --long.
USUAL = dict(zip(INTERRUPTED, (0.8, 1.5, 0.15, 0.8, 0.4, 0.02), strict=True))


@pytest.mark.parametrize(
    ('command', 'delay'),
    [
        pytest.param(command, delay, marks=() if USUAL[command] == delay else pytest.mark.long)
        for command in INTERRUPTED
        for delay in DELAYS
    ],
)
def test_an_early_interrupt_is_no_traceback(command, delay):
    """As under launch in a terminal: the process is tied to its parent, and Ctrl-C comes twice."""
    words = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', command, *INTERRUPTED[command]]
    process = start_process(
        tied(words, hold_interrupt=True),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # The lifeline itself has to come to the point where it holds the signal back.
    wait_until_blocked(process.pid)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert 'Traceback' not in output and 'KeyboardInterrupt' not in output
    assert process.returncode in (0, 130, -signal.SIGINT), output


def wait_until_blocked(pid):
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        with open(f'/proc/{pid}/status') as file:
            masks = dict(line.split(':', 1) for line in file)
        if int(masks['SigBlk'], 16) & 1 << (signal.SIGINT - 1):
            return
        time.sleep(0.002)
