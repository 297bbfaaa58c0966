# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""scene_state: serialised once for all clients, with the meshes that one of them lacks."""

import orjson
import pytest

from test.gateways.virtual_field.programs import stepped_world
from urlab_ros_bridge.gateways.virtual_field.serving import state_messages

NOTHING = frozenset()


@pytest.fixture(scope='module')
def world():
    """Return a client and a gateway's simulation: tentacles, which stand when time does."""
    with stepped_world('tentacle') as (client, gateway):
        yield client, gateway.served


def frame_after(client, served, steps):
    step = client.step(steps).step
    while (frame := served.scene.poll()) is None or frame.step < step:
        pass
    return frame


def payload(data):
    return orjson.loads(data)['payload']


def test_a_frame_is_serialised_once_until_something_changes(world):
    client, served = world
    frame = frame_after(client, served, 1)
    made = served.messages.made
    message = served.message(frame)
    assert served.message(frame) is message and served.messages.made == made + 1
    holding = served.pool.take('somebody', 'tentacle', 1)
    owned = payload(served.message(frame).data)
    assert owned['user_arms'] == {'somebody': holding.arm_ids}
    assert set(holding.arm_ids) <= owned['arms'].keys()
    served.pool.release('somebody')
    assert served.messages.made == made + 2


def test_each_client_gets_each_mesh_once_and_only_so_many_at_a_time(world, monkeypatch):
    client, served = world
    message = served.message(frame_after(client, served, 1))
    sizes = [len(mesh.asset_uri) for mesh in message.meshes.values()]
    monkeypatch.setattr(state_messages, 'ASSETS_AT_ONCE', max(sizes))
    had, got = NOTHING, []
    for _ in range(len(sizes) + 1):
        data, had = message.for_client(had)
        meshes = payload(data)['meshes']
        assert meshes.keys() == message.meshes.keys()
        got.append([name for name, mesh in meshes.items() if 'asset_uri' in mesh])
        if not got[-1]:
            break
    assert data == message.data and had == message.keys
    assert sorted(name for names in got for name in names) == sorted(message.meshes)
    assert len(got) > 2
    # A mesh that another one has replaced is sent again.
    stale = frozenset((name, version + 1) for name, version in had)
    assert message.for_client(stale) == message.for_client(NOTHING)
