# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Two bridges on one ROS domain, bridges that were killed, and others who publish /clock."""

import os
import signal
import subprocess
import sys
import threading
import time

from bridge_harness import free_domain
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import Listener
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from lifelines import start_process
from nav_msgs.msg import Odometry
import pytest
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.client.client import Client

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


@pytest.fixture
def domain():
    return free_domain()


@pytest.fixture
def listener(domain):
    made = Listener(domain)
    yield made
    made.close()


@pytest.fixture(scope='module')
def slow_rover(lasting_server):
    """Return a server whose time passes slowly, so that it costs little while bridges wait."""
    running = lasting_server()
    with Client('127.0.0.1', running.ports[0], shared=True) as client:
        client.set_sim_speed(10.0)
    return running


@pytest.fixture
def bridge(slow_rover, domain):
    """Return a function that starts one more bridge of the same server on the same domain."""
    started = []

    def start(**parameters):
        started.append(LoggedBridge(slow_rover, domain, **parameters))
        return started[-1]

    start.server = slow_rover
    yield start
    for each in started:
        each.close()


def is_connected(bridge):
    return wait_until(lambda: bridge.said('connected to '))


def found(listener):
    """Return the last status about other publishers."""
    heard = listener.heard.get('/diagnostics') or listener.listen(DiagnosticArray, '/diagnostics')
    for message in reversed(list(heard)):
        for status in message.status:
            if status.name.endswith(': other publishers'):
                return status
    return None


def test_a_second_bridge_is_refused_and_the_first_goes_on(bridge, listener):
    first = bridge()
    odometry = listener.listen(Odometry, 'odom')
    wait_until(lambda: odometry)
    with Client('127.0.0.1', bridge.server.ports[0], shared=True) as client:
        for paused in (True, False):
            client.set_paused(paused)
            second = bridge()
            assert second.process.wait(60) == 1
            assert second.said(TWIN) and second.said('second_bridge')
            assert second.said('ROS_DOMAIN_ID')
    count = len(odometry)
    wait_until(lambda: len(odometry) > count + 50)
    stamps = [(m.header.stamp.sec, m.header.stamp.nanosec) for m in list(odometry)]
    assert len(set(stamps)) == len(stamps)
    assert first.process.poll() is None and not first.said('another bridge')


def test_a_bridge_that_was_killed_is_replaced_at_once(bridge, listener, request):
    first = bridge()
    odometry = listener.listen(Odometry, 'odom')
    wait_until(lambda: odometry)
    for _ in range(3 if request.config.getoption('long') else 2):
        first.send(signal.SIGKILL)
        first.process.wait()
        odometry.clear()
        # The dead are still listed: with a lease of 20 s, by several names.
        first = bridge()
        wait_until(lambda: odometry)
        assert first.process.poll() is None
    time.sleep(5.0)
    assert not first.said('another bridge')


def test_a_bridge_is_restarted_while_the_one_before_still_ends(bridge, listener):
    first = bridge()
    is_connected(first)
    second = bridge()
    # Python takes a second to start; the first one ends within that of the second.
    wait_until(lambda: listener.node.count_publishers('/clock') == 2)
    first.send(signal.SIGINT)
    assert is_connected(second)
    assert first.process.wait(10) == 0 and second.process.poll() is None


def test_who_wants_two_is_told_once_what_that_means(bridge, listener):
    first = bridge()
    is_connected(first)
    second = bridge(second_bridge='warn')
    is_connected(second)
    for each in (first, second):
        wait_until(lambda each=each: each.said(TWIN))
    status = wait_until(lambda: (s := found(listener)) and s.level == DiagnosticStatus.WARN and s)
    assert TWIN in status.message
    assert '/odom also from' in {pair.key for pair in status.values}
    time.sleep(6.0)
    for each in (first, second):
        assert len(each.said(TWIN)) == 1 and not each.said('/clock too')
    second.close()
    wait_until(lambda: first.said('any more'))
    wait_until(lambda: found(listener).level == DiagnosticStatus.OK)


def test_another_clock_is_named_and_so_are_other_sources_of_own_topics(bridge, listener):
    first = bridge()
    is_connected(first)
    found(listener)
    odom = listener.node.create_publisher(Odometry, 'odom', 1)
    wait_until(lambda: first.said('/listener publishes /odom too'))
    clock = listener.node.create_publisher(Clock, '/clock', LISTEN_BEST_EFFORT)
    wait_until(lambda: first.said('/listener publishes /clock too'))
    assert first.said('ROS_DOMAIN_ID')
    status = wait_until(lambda: (s := found(listener)) and '/clock' in s.message and s)
    assert status.level == DiagnosticStatus.WARN
    listener.node.destroy_publisher(odom)
    listener.node.destroy_publisher(clock)
    wait_until(lambda: first.said('any more'))
