# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Two arms that all tests of this folder share, a gateway for each file, and clients."""

from bundled_server import simulation
import pytest

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from urlab_ros_bridge.client import Client


@pytest.fixture(scope='package')
def two_arms():
    """Return the RPC port of two arms that stand still, which costs little."""
    with simulation('bimanual', cameras='off', paused=True) as port:
        yield port


@pytest.fixture(scope='module')
def bimanual(two_arms):
    """Return the RPC port of two arms, at home, that live."""
    with Client(rpc_port=two_arms, shared=True) as client:
        client.connect()
        client.reset('home')
        client.set_paused(False)
        yield two_arms
        client.set_paused(True)


@pytest.fixture(scope='module')
def field(bimanual):
    """Return a gateway of the two arms."""
    with field_at(bimanual) as server:
        yield server


@pytest.fixture
def join(field, keep):
    """Return a function: role and fields of a hello -> client; None: no hello."""
    return lambda role='spectator', **hello: keep(FieldClient(field.url, role, **hello))
