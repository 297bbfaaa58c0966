# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations on free ports, gateways in front of them, and the observation of the page."""

from bundled_server import simulation
import pytest

from test.gateways.chiral.stock_client import StockClient
from test.gateways.running import chiral_at
from urlab_ros_bridge.gateways.simulation import link


@pytest.fixture(scope='module', autouse=True)
def _patient_gateway():
    """On a busy machine an image takes longer than a gateway waits for a reply."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, 'TIMEOUT', 60.0)
        yield


@pytest.fixture(scope='module')
def quadruped():
    """Return the RPC port of a quadruped."""
    with simulation('quadruped') as port:
        yield port


@pytest.fixture(scope='session')
def gateway():
    """Return a context manager: RPC port, profile and settings -> running gateway."""
    return chiral_at


@pytest.fixture
def direct(quadruped):
    """Return a stock client of a quadruped in lockstep."""
    with chiral_at(quadruped, {'pace': 'lockstep'}) as server, StockClient(server.url) as client:
        yield client
