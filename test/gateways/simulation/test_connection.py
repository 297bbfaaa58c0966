# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The connection of a gateway to a simulation that does not fit."""

import pytest

from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.testing import FakeServer


class UnreadableServer(FakeServer):
    def _op_hello(self, *_):
        return {'session_id': 's', 'entities': 7}


def test_a_server_that_cannot_be_read_is_not_asked_again_soon():
    links = []
    with UnreadableServer() as server:

        def open_link():
            links.append(SimulationLink('127.0.0.1', server.ports['rpc'], 'test'))
            return links[-1]

        connection = SimulationConnection(open_link, lambda link: link, lambda: None)
        for _ in range(5):
            with pytest.raises(UnreadableHandshake, match='entities'):
                connection.take(5.0)
        assert len(links) == 1 and len(server.requests_of('hello')) == 1
