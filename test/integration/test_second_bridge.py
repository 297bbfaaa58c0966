# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Two bridges on one ROS domain, bridges that were killed, and others who publish /clock.

The first bridge lives on from test to test: to start one takes more time than all else here.
"""

import os
import signal
import subprocess
import sys
import threading

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import Listener
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from lifelines import start_process
from lifelines import stop_for_a_while
from nav_msgs.msg import Odometry
import pytest
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.ros.reports import graph_check
from urlab_ros_bridge.ros.reports import other_publishers
from urlab_ros_bridge.ros.reports.other_publishers import OtherPublishers

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]
pytest.importorskip('urlab_msgs.msg')

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

    def said(self, text):
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
    return wait_until(lambda: bridge.said('connected to '))


def ends_as_the_second(bridge):
    assert bridge.process.wait(100) == 1
    wait_until(lambda: bridge.said(TWIN))
    return bridge.said('second_bridge') and bridge.said('ROS_DOMAIN_ID')


def goes_on(listener, first):
    """Return whether a bridge publishes, alone: every stamp comes once."""
    odometry = listener.heard.get('/odom') or listener.listen(Odometry, '/odom')
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
    assert goes_on(listener, bridges.first) and not bridges.first.said(TWIN)


def test_a_bridge_that_was_killed_is_replaced_at_once(bridges, listener, request):
    for _ in range(3 if request.config.getoption('long') else 2):
        bridges.first.send(signal.SIGKILL)
        bridges.first.process.wait()
        # The dead are still listed: with a lease of 20 s, by several names.
        bridges.first = bridges.start()
        is_connected(bridges.first)
    assert goes_on(listener, bridges.first) and not bridges.first.said('another bridge')


@pytest.fixture
def impatient(monkeypatch):
    """Have other publishers looked for ten times as often, and reported ten times as soon."""
    monkeypatch.setattr(graph_check, 'CHECK_SECONDS', 0.2)
    monkeypatch.setattr(other_publishers, 'SETTLED_SECONDS', 1.0)
    monkeypatch.setattr(other_publishers, 'LEASE_SECONDS', 1.0)


@pytest.fixture
def here(slow_rover, impatient):
    """Return a function that starts one more bridge in this process, all on one domain."""
    domain, started = free_domain(), []

    def start(**parameters):
        bridge = Bridge(domain, *slow_rover.ports[:2], **parameters)
        started.append(bridge)
        said, log = [], bridge.node.bridge.part(OtherPublishers)._log
        bridge.node.bridge.part(OtherPublishers)._log = lambda *words: (
            said.append(words[1]),
            log(*words),
        )
        wait_until(lambda: bridge.link.state.connected)
        return bridge, lambda text: [line for line in list(said) if text in line]

    start.listener, start.started = Listener(domain), started
    yield start
    for each in started:
        each.close()
    start.listener.close()


def found(listener):
    """Return the last status about other publishers."""
    heard = listener.heard.get('/diagnostics') or listener.listen(DiagnosticArray, '/diagnostics')
    for message in reversed(list(heard)):
        for status in message.status:
            if status.name.endswith(': other publishers'):
                return status
    return None


def test_another_clock_is_named_and_so_are_other_sources_of_own_topics(here):
    _, said = here()
    listener = here.listener
    found(listener)
    odom = listener.node.create_publisher(Odometry, 'odom', 1)
    wait_until(lambda: said('/listener publishes /odom too'))
    clock = listener.node.create_publisher(Clock, '/clock', LISTEN_BEST_EFFORT)
    wait_until(lambda: said('/listener publishes /clock too'))
    assert said('ROS_DOMAIN_ID')
    status = wait_until(lambda: (s := found(listener)) and '/clock' in s.message and s)
    assert status.level == DiagnosticStatus.WARN
    listener.node.destroy_publisher(odom)
    listener.node.destroy_publisher(clock)
    wait_until(lambda: said('any more'))
