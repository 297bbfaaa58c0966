# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations on free ports, gateways in front of them, and raw clients."""

from contextlib import contextmanager

from bundled_server import simulation
import pytest

from test.gateways.simspark.peers import PATIENCE
from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.client import MonitorClient
from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkConfig
from urlab_ros_bridge.gateways.simspark.serving.gateway import SimSparkGateway


@contextmanager
def gateway_at(rpc_port, agents=None, referee=None, **config):
    gateway = SimSparkGateway(
        SimSparkConfig(rpc_port=rpc_port, agent_port=0, monitor_port=0, **config),
        agents or Agents(),
        referee,
    )
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()


@pytest.fixture(scope='module')
def fleet():
    """Return the RPC port of a world with two rovers and a quadruped."""
    with simulation('fleet') as port:
        yield port


@pytest.fixture
def peer():
    """Return a function: port -> raw client."""
    peers = []

    def connect(port):
        peers.append(RawPeer(port))
        return peers[-1]

    yield connect
    for one in peers:
        one.close()


@pytest.fixture(scope='module')
def soccer():
    """Return the RPC port of a field with a ball and one player a side."""
    with simulation('soccer') as port:
        yield port


@pytest.fixture
def watch():
    """Return a function: gateway -> monitor that has seen the scene."""
    monitors = []

    def connect(gateway):
        monitors.append(MonitorClient(port=gateway.monitor_port, timeout=PATIENCE))
        monitors[-1].update()
        return monitors[-1]

    yield connect
    for monitor in monitors:
        monitor.close()
