# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""scene_state: with the meshes that a client lacks."""

import orjson

from urlab_ros_bridge.gateways.virtual_field.serving import state_messages

NOTHING = frozenset()


def test_each_client_gets_each_mesh_once_and_only_so_many_at_a_time(join, field, monkeypatch):
    join('spectator').scene()
    message = field.world.message(field.world.scene.newest)
    sizes = [len(mesh.asset_uri) for mesh in message.meshes.values()]
    monkeypatch.setattr(state_messages, 'ASSETS_AT_ONCE', max(sizes))
    had, got = NOTHING, []
    for _ in range(len(sizes) + 1):
        data, had = message.for_client(had)
        meshes = orjson.loads(data)['payload']['meshes']
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
