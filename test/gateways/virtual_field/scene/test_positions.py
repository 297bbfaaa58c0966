# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway's model is where the server has its own, decoded or not."""

import struct

import numpy as np
import pytest

from test.gateways.virtual_field.programs import stepped_world
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.state import tick as tick_module
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.wire.errors import UrlabError

FRAMES = 20


@pytest.fixture(scope='module')
def world():
    """Return a client, and what a gateway sees, of a world with robots and loose things."""
    with stepped_world('fleet') as (client, gateway):
        yield client, gateway.served.scene


def next_frame(client, scene, steps=3):
    """Step the world; return the frame of it."""
    step = client.step(steps).step
    while True:
        frame = scene.poll()
        if frame is not None and frame.step >= step:
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


def test_positions_are_those_of_the_snapshot_and_few_snapshots_are_decoded(world, monkeypatch):
    client, scene = world
    decoded = []
    decode = tick_module.decode_snapshot
    monkeypatch.setattr(
        tick_module, 'decode_snapshot', lambda payload: decoded.append(1) or decode(payload)
    )
    frames = [next_frame(client, scene) for _ in range(FRAMES)]
    assert len(decoded) <= 2
    for frame in frames:
        check(frame, scene)


def test_another_mode_changes_the_texts_of_a_snapshot_and_nothing_else(world):
    client, scene = world
    next_frame(client, scene)
    client.set_mode('live')
    frame = None
    while frame is None or frame.seen.mode != 'live':
        frame = scene.poll()
    check(frame, scene)
    client.set_mode('direct')
    for _ in range(3):
        check(next_frame(client, scene), scene)


def test_whatever_a_server_sends_is_followed_or_refused_and_the_next_state_counts(world):
    client, scene = world
    snapshot = next_frame(client, scene).tick.snapshot
    chance = np.random.default_rng(7)
    refused = 0
    for _ in range(3000):
        payload = bytearray(snapshot[: chance.integers(1, 2 * len(snapshot))])
        for place in chance.integers(0, len(payload), chance.integers(0, 9)):
            payload[place] = chance.choice([0x00, 0x7F, 0xFF, 0xF8, 0x80, chance.integers(256)])
        try:
            seconds, _ = scene._positions.follow(
                Tick(0, -1, None, [], bytes(payload), 'state_full')
            )
            assert np.isfinite(seconds)
        except UrlabError:
            refused += 1
    assert refused > 1000
    for _ in range(3):
        check(next_frame(client, scene), scene)


def test_a_state_that_is_not_finite_is_left_out(world):
    client, scene = world
    frame = next_frame(client, scene)
    # What was learned from a broken snapshot is learned anew within a second.
    while (packed := scene._positions._packed).read(frame.tick.snapshot) is None:
        frame = next_frame(client, scene)
    for place in (packed._time, int(packed._bytes[0])):
        for value in (np.nan, np.inf, -np.inf):
            payload = bytearray(frame.tick.snapshot)
            struct.pack_into('>d', payload, place, value)
            assert packed.read(bytes(payload)) is not None
            with pytest.raises(ProtocolError, match='not finite'):
                scene._positions.follow(Tick(0, -1, None, [], bytes(payload), 'state_full'))
    check(next_frame(client, scene), scene)
