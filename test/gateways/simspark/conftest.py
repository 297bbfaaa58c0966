# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations on free ports, gateways in front of them, and raw clients."""

from bundled_server import simulation
import pytest
from simspark_client import MonitorClient

from test.gateways.simspark.peers import PATIENCE
from test.gateways.simspark.peers import RawPeer


@pytest.fixture
def peer(keep):
    """Return a function: port -> raw client."""
    return lambda port: keep(RawPeer(port))


@pytest.fixture(scope='module')
def soccer():
    """Return the RPC port of a field with a ball and one player a side."""
    with simulation('soccer') as port:
        yield port


@pytest.fixture
def watch(keep):
    """Return a function: gateway -> monitor that has received the scene."""

    def connect(gateway):
        monitor = keep(MonitorClient(port=gateway.monitor_port, timeout=PATIENCE))
        monitor.update()
        return monitor

    return connect
