# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The connection of a gateway to simulations that end and start."""

import threading
import time

from bundled_server import simulation
import pytest

from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.wire.errors import UrlabError


class Made:
    def __init__(self, link):
        self.link = link
        self.closed = False
        self.world = link.handshake.world

    def close(self):
        self.closed = True


def holder_of(port, make=Made):
    lost = threading.Event()
    links = []

    def open_link():
        links.append(SimulationLink('127.0.0.1', port[0], 'test'))
        return links[-1]

    return SimulationConnection(open_link, make, lost.set), lost, links


def test_the_end_of_a_simulation_is_noticed_and_the_next_one_is_used():
    with simulation('rover') as port:
        at = [port]
        holder, lost, _ = holder_of(at)
        assert holder.current is None
        holder.take(10)
        first = holder.wait()
        assert first.world == 'rover' and not lost.is_set()
        holder.renew(10)
        assert holder.current is first  # it still is the same server
    assert lost.wait(10)
    deadline = time.monotonic() + 10
    while holder.current is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert first.closed and first.link.is_lost and first.link.is_stale
    with pytest.raises(RequestTimeout):
        holder.renew(0.2)
    with simulation('quadruped') as port:
        at[0] = port
        holder.renew(10)
        assert holder.current.world == 'quadruped'
        second = holder.current
        holder.release()
        holder.release()
        assert second.closed and holder.current is None


def test_an_error_while_connecting_leaves_no_session(rover):
    def refuse(link):
        raise RobotError('not this one')

    holder, _, links = holder_of([rover], refuse)
    with pytest.raises(RobotError, match='not this one'):
        holder.take(10)
    assert holder.current is None
    with pytest.raises(UrlabError):
        links[0].state()


@pytest.mark.parametrize('is_noticed', [True, False])
def test_a_link_that_closes_while_it_is_asked_counts_as_restarted(rover, is_noticed):
    """Its watch and the next client notice the end of a server at the same time."""
    holder, _, links = holder_of([rover])
    holder.take(10)
    first = holder.current
    links[0].close()
    links[0].is_lost = is_noticed
    holder.renew(10)
    assert first.closed and holder.current is not first
    holder.release()


class UnreadableServer(FakeServer):
    def _op_hello(self, *_):
        return {'session_id': 's', 'entities': 7}


def test_a_server_that_cannot_be_read_is_not_asked_again_soon():
    with UnreadableServer() as server:
        holder, _, links = holder_of([server.ports['rpc']])
        for _ in range(5):
            with pytest.raises(UnreadableHandshake, match='entities'):
                holder.take(5.0)
        assert len(links) == 1 and len(server.requests_of('hello')) == 1
