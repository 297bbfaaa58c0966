# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Control periods, and one robot of several moved by them on a real server."""

import time

import pytest
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free


def test_time_that_passes_otherwise_ends_an_episode(quadruped, gateway, urlab):
    """Another client lets the world run: the policy is informed, and may reset it."""
    other = urlab(quadruped)
    other.set_mode('live')
    with gateway(quadruped, {'pace': 'lockstep'}) as server:
        with connect_when_free(server.url) as client:
            start = client.reset()
            assert other.status().mode == 'direct'
            other.set_mode('live')
            time.sleep(0.05)
            client.act(start.proprios['joint_pos'])
            with pytest.raises(ConnectionClosed, match=r'1011 .* 0\.03'):
                client.receive()
        with connect_when_free(server.url) as client:
            start = client.reset()
            client.act(start.proprios['joint_pos'])
            passed = client.observe().timestamp - start.timestamp
            assert passed == pytest.approx(1 / 30, abs=0.003)
    assert other.status().mode == 'live'  # given back


def test_real_time_moves_no_world_that_another_client_steps(quadruped, gateway, urlab):
    other = urlab(quadruped)
    with gateway(quadruped) as server:
        with connect_when_free(server.url) as client:
            start = client.reset()
            other.set_mode('direct')
            before = other.forward().step
            client.act(start.proprios['joint_pos'])
            with pytest.raises(ConnectionClosed, match=r'1013 .*live mode'):
                client.observe()
        assert other.forward().step == before
        other.set_mode('live')
        with connect_when_free(server.url) as client:
            assert client.observe().timestamp > start.timestamp
