# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep on a server that others use too."""

import time

import pytest
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free

LOCKSTEP = {'pace': 'lockstep'}


@pytest.mark.parametrize('meddle', ['live', 'step'])
def test_time_that_passes_otherwise_ends_an_episode(quadruped, gateway, urlab, meddle):
    """Somebody steps the world, or lets it run: the policy is told, and a reset takes it back."""
    other = urlab(quadruped)
    with gateway(quadruped, LOCKSTEP) as server:
        with connect_when_free(server.url) as client:
            start = client.reset()
            if meddle == 'live':
                other.set_mode('live')
                time.sleep(0.05)
            else:
                other.step(3)
            client.act(start.proprios['joint_pos'])
            with pytest.raises(ConnectionClosed, match=r'1011 .* s passed instead of 0\.03'):
                client.receive()
        with connect_when_free(server.url) as client:
            start = client.reset()
            client.act(start.proprios['joint_pos'])
            passed = client.observe().timestamp - start.timestamp
            assert passed == pytest.approx(1 / 30, abs=0.003)


def test_lockstep_gives_the_mode_back(quadruped, gateway, urlab):
    watcher = urlab(quadruped)
    watcher.set_mode('live')
    with gateway(quadruped, LOCKSTEP):
        assert watcher.status().mode == 'direct'
    assert watcher.status().mode == 'live'
