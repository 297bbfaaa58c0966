# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene of the gateway has the positions of the server."""

from types import SimpleNamespace

from bundled_server import simulation
import numpy as np
import pytest

from test.gateways.running import field_at
from urlab_ros_bridge.client import Client


@pytest.fixture(scope='module')
def world():
    """Return a client, and what a gateway sees, of a world with robots and loose things."""
    with simulation('fleet', cameras='off') as port, Client(rpc_port=port, shared=True) as client:
        client.connect()
        client.set_mode('direct')
        with field_at(port) as gateway:
            yield client, gateway.world.scene


def next_frame(client, scene):
    """Step the world; return the frame of it."""
    step = client.step(3).step
    while (frame := scene.poll()) is None or frame.step < step:
        pass
    return frame


def check(frame, scene):
    """Hold the positions of a frame against its decoded snapshot."""
    seen = frame.seen
    assert (frame.time, frame.step) == (seen.time, seen.step)
    for prefix, state in seen.articulations.items():
        slots = [
            joint.qpos_address + place
            for joint in scene.world.joints
            if joint.prefix == prefix
            for place in range(joint.width)
        ]
        np.testing.assert_array_equal(frame.qpos[slots], state.qpos)
    names = {body.compiled: body.id for body in scene.world.bodies}
    assert seen.entities
    for name, entity in seen.entities.items():
        np.testing.assert_allclose(frame.body_positions[names[name]], entity.xpos, atol=1e-5)


def test_positions_are_those_of_the_snapshot_and_one_that_is_not_finite_is_left_out(
    world, monkeypatch
):
    client, scene = world
    for value in (np.nan, 1e200):
        for _ in range(10):
            check(next_frame(client, scene), scene)
        for field in ('time', 'qpos'):
            newest, skipped = next_frame(client, scene), scene.unfit
            seen = newest.seen
            if field == 'time':
                vars(seen)['time'] = value
            else:
                next(iter(seen.articulations.values())).qpos[0] = value
            tick = SimpleNamespace(state=lambda seen=seen: seen)
            with monkeypatch.context() as patch:
                patch.setattr(scene._stream, 'receive', lambda _, tick=tick: tick)
                assert scene.poll() is newest and scene.unfit > skipped
