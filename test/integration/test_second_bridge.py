# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Two bridges on one ROS domain, bridges that were killed, and other publishers of /clock.

The first bridge lives on from test to test: to start one takes more time than all else here.
"""

import os
import signal
import subprocess
import sys
import threading

from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
from lifelines import start_process
from lifelines import stop_for_a_while
from nav_msgs.msg import Odometry
import pytest

from urlab_ros_bridge.client.client import Client

pytestmark = pytest.mark.timeout(180)

TWIN = 'another bridge named /urlab_bridge'


class LoggedBridge:
    """A bridge as a process, and the lines that it logs."""

    def __init__(self, server, domain, **parameters):
        values = {'rpc_port': server.ports[0], 'state_port': server.ports[1], **parameters}
        words = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
        self.process = start_process(
            [
                sys.executable,
                '-u',
                '-m',
                'urlab_ros_bridge.ros.program.main',
                '--ros-args',
                *words,
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
        )
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def logged(self, text):
        return [line for line in list(self.lines) if text in line]

    def send(self, number):
        self.process.send_signal(number)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()


@pytest.fixture(scope='module')
def slow_rover(lasting_server):
    """Return a server whose time passes slowly, so that it costs little while bridges wait."""
    running = lasting_server()
    with Client('127.0.0.1', running.ports[0], shared=True) as client:
        client.set_sim_speed(10.0)
    return running


class Bridges:
    """The bridges of one server on one domain; `first` is the one that is at work."""

    def __init__(self, server):
        self.server, self.domain = server, free_domain()
        self.listener = Listener(self.domain)
        self.started = []
        self.first = self.start()

    def start(self, **parameters):
        self.started.append(LoggedBridge(self.server, self.domain, **parameters))
        return self.started[-1]

    def close(self):
        for each in self.started:
            each.close()
        self.listener.close()


@pytest.fixture(scope='module')
def lasting_bridges(slow_rover):
    made = Bridges(slow_rover)
    yield made
    made.close()


@pytest.fixture
def bridges(lasting_bridges):
    is_connected(lasting_bridges.first)
    assert lasting_bridges.first.process.poll() is None
    return lasting_bridges


@pytest.fixture
def listener(bridges):
    yield bridges.listener
    bridges.listener.forget()


def is_connected(bridge):
    return wait_until(lambda: bridge.logged('connected to '))


def ends_as_the_second(bridge):
    assert bridge.process.wait(100) == 1
    wait_until(lambda: bridge.logged(TWIN))
    return bridge.logged('second_bridge') and bridge.logged('ROS_DOMAIN_ID')


def continues(listener, first):
    """Return whether a bridge publishes, alone: every stamp comes once."""
    odometry = listener.received.get('/odom') or listener.listen(Odometry, '/odom')
    odometry.clear()
    wait_until(lambda: len(odometry) > 15)
    stamps = [(m.header.stamp.sec, m.header.stamp.nanosec) for m in list(odometry)]
    return len(set(stamps)) == len(stamps) and first.process.poll() is None


def test_a_second_bridge_is_refused_while_the_first_is_stopped(bridges, listener):
    stop_for_a_while(bridges.first.process)
    try:
        assert ends_as_the_second(bridges.start())
    finally:
        bridges.first.send(signal.SIGCONT)
    assert continues(listener, bridges.first) and not bridges.first.logged(TWIN)


def test_a_bridge_that_was_killed_is_replaced_at_once(bridges, listener, request):
    for _ in range(3 if request.config.getoption('long') else 2):
        bridges.first.send(signal.SIGKILL)
        bridges.first.process.wait()
        # The dead are still listed: with a lease of 20 s, by several names.
        bridges.first = bridges.start()
        is_connected(bridges.first)
    assert continues(listener, bridges.first) and not bridges.first.logged('another bridge')
