# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The typed methods for entities, against our server."""

from bundled_server import port_of
from bundled_server import running_server
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import BadValue
from urlab_ros_bridge.client.errors import UnknownBody


@pytest.fixture
def client():
    """Return a client of a paused rover world."""
    with (
        running_server(paused=True) as server,
        Client(rpc_port=port_of(server), shared=True) as made,
    ):
        yield made


def test_states_are_read_and_written(client):
    everything = client.get_entities()
    assert everything['rover'].kind == 'articulation' and everything['pallet'].movable
    assert client.get_entities([]) == {}
    moved = client.set_entity_state('pallet', pos=(1, 2, 3), angular=(0, 0, 2))
    assert moved.pos.tolist() == [1, 2, 3] and moved.angular.tolist() == [0, 0, 2]
    assert moved.quat.tolist() == everything['pallet'].quat.tolist() and moved.bounds is None
    (read,) = client.get_entities(['pallet'], bounds=True).values()
    assert read.pos.tolist() == [1, 2, 3] and read.sim_time_ns == moved.sim_time_ns
    assert read.bounds.shape == (2, 3) and (read.bounds[0] < read.bounds[1]).all()
    assert client.step().entities['pallet'].qpos[:3].tolist() == [1, 2, 3]
    with pytest.raises(UnknownBody, match='pallet'):
        client.get_entities(['palet'])
    with pytest.raises(BadValue, match='cannot be moved'):
        client.set_entity_state('shelf', pos=(0, 0, 0))
