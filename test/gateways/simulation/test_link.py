# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of a gateway to a base expire when they are delayed, or time is frozen."""

import concurrent.futures
import math
import signal
import time

from lifelines import stop_for_a_while
import pytest
from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import StaleCommand
from urlab_ros_bridge.client.ops import MIN_WALL_AGE

FORWARD, STOP = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
# s of simulated time after which the server forgets a command, and several times that of ours.
TIMEOUT, LONG = 0.25, 4 * MIN_WALL_AGE
# m; a settled rover creeps less, and a command drives it further, also on a busy machine.
AT_REST = 0.02


@pytest.fixture(scope='module')
def server():
    """Yield a server's process and the port of its requests."""
    with program('server', '--world=rover', '--no-shm', *ANY_PORTS) as (process, line):
        yield process, port_of(line)


@pytest.fixture
def port(server):
    return server[1]


@pytest.fixture
def line(link, port):
    """Return a link to a rover that stands."""
    line = link(port)
    line.use_mode('live')
    line.set_twist('rover', STOP, TIMEOUT)
    until(line, line.state().time + 1.0)
    return line


def until(line, moment):
    while line.state().time < moment:
        time.sleep(0.01)


def travelled(line, seconds=0.6):
    """Return how far the rover goes within simulated seconds (m)."""
    began = line.state()
    until(line, began.time + seconds)
    start, end = (seen.articulations['rover'].qpos for seen in (began, line.state()))
    return math.dist(start[:2], end[:2])


def test_a_command_is_executed_however_long_the_robot_was_idle(line):
    time.sleep(LONG)  # the link learns no time of the server in between
    line.set_twist('rover', FORWARD, TIMEOUT)
    assert travelled(line) > AT_REST


def test_a_command_that_waited_at_a_stopped_server_is_refused(line, server):
    process, _ = server
    with concurrent.futures.ThreadPoolExecutor() as pool:
        stop_for_a_while(process)
        try:
            driving = pool.submit(line.set_twist, 'rover', FORWARD, TIMEOUT)
            time.sleep(LONG)
        finally:
            process.send_signal(signal.SIGCONT)
        with pytest.raises(StaleCommand):
            driving.result(30)
    assert travelled(line) < AT_REST


@pytest.mark.parametrize(('expires', 'moves'), [(True, False), (False, True)])
def test_a_command_given_while_time_is_frozen_expires(line, port, expires, moves):
    client = Client('127.0.0.1', port, shared=True)
    client.connect()
    client.set_paused(True)
    try:
        line.set_twist('rover', FORWARD, TIMEOUT, by_wall_clock=expires)
        time.sleep(LONG)
    finally:
        client.set_paused(False)
        client.close()
    assert (travelled(line) > AT_REST) == moves
