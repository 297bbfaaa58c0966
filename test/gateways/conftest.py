# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations behind gateways, and their clients."""

from bundled_server import simulation
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.simulation.link import SimulationLink


@pytest.fixture
def urlab(keep):
    """Return a function: RPC port -> client of the simulation itself."""

    def connect(port):
        client = keep(Client(rpc_port=port, shared=True))
        client.connect()
        return client

    return connect


@pytest.fixture(scope='module')
def rover():
    """Return the RPC port of a rover."""
    with simulation('rover') as port:
        yield port


@pytest.fixture(scope='module')
def fleet():
    """Return the RPC port of a world with two rovers and a quadruped."""
    with simulation('fleet') as port:
        yield port


@pytest.fixture
def link(keep):
    """Return a function: RPC port -> connected link."""

    def connect(port):
        link = keep(SimulationLink('127.0.0.1', port, 'test'))
        link.connect()
        return link

    return connect
