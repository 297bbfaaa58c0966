# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A driver whose simulation is killed or stopped is informed, and reconnects at once."""

import signal
import socket
import struct
import time

from bundled_server import running_server
from lifelines import stop_for_a_while
import numpy as np
from ports import free_port
import psutil
import pytest
from raw_peer import frame
from raw_peer import opened
from raw_peer import opening
from raw_peer import rest
from raw_peer import status
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.programs import Gateway
from test.gateways.chiral.programs import Programs
from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import packed
from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.protocol.codec import CLIENT_ID
from urlab_ros_bridge.gateways.simulation.link import TIMEOUT

PACES = ['lockstep', pytest.param('real_time', marks=pytest.mark.long)]


# First, while no other simulation runs beside it.
@pytest.mark.slow
@pytest.mark.parametrize('pace', PACES)
def test_memory_does_not_grow_with_restarts(tmp_path, pace, request):
    """After many restarts it is what it was at first; it was a third more after six."""
    rounds = 24 if request.config.getoption('long') else 12
    options = {'world': 'quadruped', 'rpc_port': free_port(), 'shm': False, 'cameras': 'off'}
    counts = []
    with running_server(**options):
        gateway = Gateway(tmp_path, options['rpc_port'], f'--pace={pace}', '--viewers')
    try:
        for _ in range(rounds):
            with running_server(**options), ChiralClient(gateway.url, timeout=30) as robot:
                robot.reset()
                with StockClient(f'{gateway.url}/view') as viewer:
                    viewer.observe()
                robot.observe()
                now = psutil.Process(gateway.process.pid)
                counts.append((now.memory_info().rss, now.num_threads(), now.num_fds()))
    finally:
        gateway.stop()
    memory, *others = np.transpose(counts)
    assert np.median(memory[-4:]) < 1.15 * np.median(memory[:4]), memory
    for each in others:
        assert np.median(each[-4:]) <= np.median(each[:4]), counts


@pytest.fixture(scope='module', params=PACES)
def lasting_programs(request, tmp_path_factory):
    """Yield a quadruped and its gateway."""
    folder = tmp_path_factory.mktemp('programs')
    running = Programs(folder, f'--pace={request.param}', '--log-level=debug')
    yield running
    assert running.stop() == 0


@pytest.fixture
def programs(lasting_programs):
    """Yield both, running; the log begins with the test."""
    if lasting_programs.simulation.poll() is not None:  # a test has failed
        lasting_programs.restart()
    lasting_programs.forget_log()
    yield lasting_programs
    assert 'Traceback' not in lasting_programs.logged()


def test_a_driver_is_informed_at_once_and_drives_the_next_simulation(programs):
    """Nobody is refused on the way, neither for an old connection nor for one that ends."""
    with ChiralClient(programs.url, timeout=2 * TIMEOUT) as robot:
        start = robot.reset()
        programs.kill()
        began = time.monotonic()
        with pytest.raises(ChiralClosed, match=r'1013 the simulation has gone') as caught:
            robot.reset()
        assert caught.value.code == 1013
        assert time.monotonic() - began < TIMEOUT
        programs.restart()
        seen = robot.observe()  # connects again
        assert set(seen.proprios) == set(start.proprios)
        robot.step(seen.proprios['joint_pos'])
        # And again, with the old connection closed by the client in the middle of it.
        programs.kill()
        programs.restart()
        assert robot.observe().timestamp < seen.timestamp + 60
    assert 'HTTP 503' not in programs.logged()


def test_a_driver_that_leaves_during_a_request_may_reconnect(programs):
    """The request still runs: the next driver is let in, and gets its turn when it has ended."""
    for resets in (False, True):
        link = opened(programs.port)
        stop_for_a_while(programs.simulation)
        link.sendall(frame(packed({'type': 'reset'})))
        time.sleep(0.3)
        if resets:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        link.close()
        time.sleep(0.1)
        with StockClient(programs.url) as robot:
            programs.simulation.send_signal(signal.SIGCONT)
            assert robot.reset().type == 'reset_response'
    assert 'HTTP 503' not in programs.logged()


def test_a_request_that_runs_ends_with_the_simulation(programs):
    with StockClient(programs.url) as robot:
        robot.reset()
        stop_for_a_while(programs.simulation)
        robot.send({'type': 'reset'})
        time.sleep(0.3)
        began = time.monotonic()
        programs.kill()
        with pytest.raises(ConnectionClosed, match=r'1013 .*the simulation has gone: reconnect'):
            robot.receive()
        assert time.monotonic() - began < TIMEOUT


def test_only_the_same_client_replaces_a_lost_connection(quadruped, gateway):
    """Its old connection looks alive: it is open, and nobody answers on it."""
    mine, other = f'{CLIENT_ID}: 5a5a', f'{CLIENT_ID}: 1b1b'
    with gateway(quadruped, {'pace': 'lockstep'}) as server:
        with opened(server.port, '/', mine) as lost:
            for headers in ((), (other,), (f'{CLIENT_ID}: ',), (mine, other)):
                line, text = status(server.port, opening('/', *headers))
                assert ' 503 ' in line and 'driven by 127.0.0.1' in text
            with opened(server.port, '/', mine) as again:
                again.sendall(frame(packed({'type': 'metadata'})))
                assert b'quadruped' in again.recv(1 << 16)
                assert rest(lost) == b''  # reset
                assert ' 503 ' in status(server.port, opening('/', other))[0]
        with connect_when_free(server.url) as robot:
            assert robot.metadata()['role'] == 'driver'
