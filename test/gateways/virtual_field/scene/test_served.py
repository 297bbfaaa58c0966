# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene of the gateway has the positions of the server."""

import numpy as np
import pytest

from test.gateways.virtual_field.programs import stepped_world
from urlab_ros_bridge.client.errors import ProtocolError

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


def next_tick(client, scene):
    """Step the world; return what the server sent of it, which the scene does not see."""
    step = client.step(3).step
    while True:
        tick = scene._stream.receive(1.0)
        if tick is not None and tick.snapshot is not None and tick.state().step >= step:
            return tick


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


def test_positions_are_those_of_the_snapshot(world):
    client, scene = world
    for _ in range(FRAMES):
        check(next_frame(client, scene), scene)


@pytest.mark.parametrize('value', [np.nan, 1e200])
def test_a_state_that_is_not_finite_is_left_out(world, value):
    client, scene = world
    for field in ('time', 'qpos'):
        seen = next_tick(client, scene).state()
        if field == 'time':
            vars(seen)['time'] = value
        else:
            next(iter(seen.articulations.values())).qpos[0] = value
        with pytest.raises(ProtocolError, match='not finite'):
            scene._mirrored(seen)
    check(next_frame(client, scene), scene)
