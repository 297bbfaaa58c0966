# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations as processes of their own, and gateways in front of them."""

from contextlib import contextmanager
import re
import subprocess
import sys

from lifelines import start_process
import pytest

from test.gateways.webxr.field_client import FieldClient
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.webxr.serving.server import WebXrConfig
from urlab_ros_bridge.gateways.webxr.serving.server import WebXrServer

PORTS = ('rpc', 'state', 'camera', 'control', 'info')


@contextmanager
def simulation(world, *words):
    """Run a world; yield its RPC port."""
    ports = [f'--{name}-port=0' for name in PORTS]
    process = start_process(
        [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', f'--world={world}', *ports,
         '--cameras=off', *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        yield int(re.search(r'rpc=tcp://[^:]+:(\d+)', line)[1])
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def gateway_at(rpc_port, *parts, **config):
    server = WebXrServer(WebXrConfig(rpc_port=rpc_port, port=0, **config), *parts)
    server.start(30.0)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope='package')
def bimanual():
    """Return the RPC port of two arms, at home."""
    with simulation('bimanual') as port:
        with Client(rpc_port=port, shared=True) as client:
            client.connect()
            client.reset('home')
        yield port


@pytest.fixture(scope='module')
def field(bimanual):
    """Return a gateway of the two arms."""
    with gateway_at(bimanual) as server:
        yield server


@pytest.fixture
def join(field):
    """Return a function: role and fields of a hello -> client; None: no hello."""
    clients = []

    def connect(role='spectator', **hello):
        clients.append(FieldClient(field.url, role, **hello))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()
