# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Ten thousand connections that say nothing, to each port of the suite: others are served."""

import contextlib
import re
import resource
import socket
import time

import pytest
import zmq

from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from test.gateways.serving.raw_peer import PONG
from test.security.programs import ANY_PORTS
from test.security.programs import listening
from test.security.programs import port_of
from test.security.programs import program
from urlab_ros_bridge.client import Client

COUNT = 10_000
PATIENCE = 60.0
GROWTH_MB = 100.0
PORTS = ('agents', 'monitors')
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(HARD < 2 * COUNT, reason=f'{HARD} open files are too few (ulimit -Hn)'),
]


@pytest.fixture(scope='module', autouse=True)
def open_files():
    """The programs have the limit of this process, for each of their own connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(scope='module')
def server():
    with program('server', '--world=rover', '--cameras=off', *ANY_PORTS) as (process, line):
        yield process, line


@contextlib.contextmanager
def crowd(port):
    """Hold so many connections, of which a server may refuse any."""
    links = []
    try:
        for number in range(COUNT):
            link = socket.socket()
            links.append(link)
            link.setblocking(False)
            link.connect_ex(('127.0.0.1', port))
            if number % 200 == 199:
                time.sleep(0.01)  # for the server to take some of them
        yield
    finally:
        for link in links:
            link.close()


def memory_mb(process):
    with open(f'/proc/{process.pid}/statm') as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def until_served(ask):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except (AssertionError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def hears(port):
    """Return whether a new listener of rows gets one."""
    with zmq.Context() as context, context.socket(zmq.SUB) as rows:
        rows.setsockopt(zmq.LINGER, 0)
        rows.setsockopt(zmq.SUBSCRIBE, b'')
        rows.connect(f'tcp://127.0.0.1:{port}')
        return rows.poll(PATIENCE * 1000) != 0


@pytest.mark.parametrize('stream', ['rpc', 'state', 'control', 'info'])
def test_the_server(server, stream):
    process, line = server
    before = memory_mb(process)
    with Client(rpc_port=port_of(line), shared=True, timeout=PATIENCE) as known:
        with crowd(port_of(line, stream)):
            assert known.status()
            with Client(rpc_port=port_of(line), shared=True, timeout=PATIENCE) as new:
                assert new.status()
            assert hears(port_of(line, 'state'))
        assert known.status()
    assert process.poll() is None and memory_mb(process) < before + GROWTH_MB


def answers_a_ping(link):
    link.sendall(frame(b'', 0x89))
    received = b''
    while bytes((PONG, 0)) not in received:
        data = link.recv(1 << 16)
        assert data, 'the gateway has ended the connection'
        received = received[-2:] + data


@pytest.mark.parametrize('gateway', ['chiral', 'webxr'])
def test_a_gateway_of_websockets(server, tmp_path, gateway):
    profile = tmp_path / 'profile.yaml'
    profile.write_text('cameras: []\n')
    words = ['--viewers', f'--profile={profile}'] if gateway == 'chiral' else []
    with program(gateway, f'--rpc-port={port_of(server[1])}', '--port=0', *words) as (process, _):
        ((_, _, port),) = listening(process.pid)
        path, before = '/view' if gateway == 'chiral' else '/', memory_mb(process)
        with opened(port, path) as known:
            with crowd(port):
                answers_a_ping(known)
                # Handshakes that do not go on end after a while, and there is room again.
                until_served(lambda: opened(port, path)).close()
            answers_a_ping(known)
        until_served(lambda: opened(port, path)).close()
        assert process.poll() is None and memory_mb(process) < before + GROWTH_MB


def test_the_gateway_of_simspark(server):
    words = ('--port=0', '--monitor-port=0')
    with program('simspark', f'--rpc-port={port_of(server[1])}', *words) as (process, line):
        agents, monitors = (int(re.search(rf'{name}=(\d+)', line)[1]) for name in PORTS)
        before = memory_mb(process)

        def watch():
            link = socket.create_connection(('127.0.0.1', monitors), PATIENCE)
            assert link.recv(1 << 16), 'the gateway has ended the connection'
            return link

        with watch() as known:
            for port in (agents, monitors):
                with crowd(port):
                    assert known.recv(1 << 20)
                    if port == agents:  # monitors may be as many as they may be
                        watch().close()
                until_served(watch).close()
            assert known.recv(1 << 20)
        assert process.poll() is None and memory_mb(process) < before + GROWTH_MB
