# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of the simulation behind a gateway."""

import pytest

from urlab_ros_bridge.client import Client


@pytest.fixture
def urlab():
    """Return a function: RPC port -> client of the simulation itself."""
    clients = []

    def connect(port):
        clients.append(Client(rpc_port=port, shared=True))
        clients[-1].connect()
        return clients[-1]

    yield connect
    for client in clients:
        client.close()
