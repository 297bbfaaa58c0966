# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation comes and goes under a gateway that stays."""

import contextlib

from bundled_server import start_server
from ports import free_port
import pytest
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free


def test_another_world_is_served_after_a_restart(gateway):
    port = free_port()
    first = start_server(world='quadruped', rpc_port=port)
    with gateway(port, {'pace': 'lockstep'}) as server:
        with connect_when_free(server.url) as client:
            start = client.reset()
            first.stop()
            second = start_server(world='rover', rpc_port=port)
            with contextlib.suppress(ConnectionClosed):
                client.act(start.proprios['joint_pos'])
            with pytest.raises(
                ConnectionClosed, match=r'1013 .*the simulation has gone: reconnect'
            ):
                client.observe()
        try:
            with connect_when_free(server.url) as client:
                assert client.metadata()['robot'] == 'rover'
                assert client.reset().proprios['base_pose'].shape == (7,)
        finally:
            second.stop()


def test_who_only_watches_hears_of_a_restart(gateway):
    """In real time the images notice it first; none of another world is shown as the old one."""
    port = free_port()
    first = start_server(world='rover', rpc_port=port)
    profile = {'cameras': [{'rgb': 'front_rgb'}], 'frames': 'fresh'}
    with gateway(port, profile) as server:
        with connect_when_free(server.url) as client:
            client.reset()
            first.stop()
            second = start_server(world='quadruped', rpc_port=port)
            with pytest.raises(ConnectionClosed, match=r'1013 .*: reconnect'):
                client.observe()
        second.stop()


def test_without_a_simulation_a_driver_is_told_so_and_may_come_back(gateway, monkeypatch):
    monkeypatch.setattr('urlab_ros_bridge.gateways.simulation.link.TIMEOUT', 0.5)
    port = free_port()
    first = start_server(world='quadruped', rpc_port=port)
    with gateway(port, {'pace': 'lockstep'}) as server:
        first.stop()
        with (
            connect_when_free(server.url) as client,
            pytest.raises(ConnectionClosed, match=r'1013 .*no reply'),
        ):
            client.metadata()
        second = start_server(world='quadruped', rpc_port=port)
        try:
            with connect_when_free(server.url, seconds=10) as client:
                assert client.reset().type == 'reset_response'
        finally:
            second.stop()
