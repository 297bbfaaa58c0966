# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of a scene that stands are those of a scene that is made anew."""

import orjson
import pytest

from test.gateways.virtual_field.programs import stepped_world
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.serving.state_messages import StateMessages
from urlab_ros_bridge.gateways.virtual_field.serving.ticker import framed


class Spectator:
    """A spectator that keeps what it is sent."""

    def __init__(self):
        self.assets = frozenset()
        self.frames = []
        self.connection = self
        self.is_busy = False

    def offer(self, frame):
        self.frames.append(bytes(frame))
        return True

    @property
    def newest(self):
        frame = self.frames[-1]
        return orjson.loads(frame[frame.index(b'{') :])['payload']


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


def test_what_stands_is_made_once_and_has_the_time_of_each_moment(world):
    client, served = world
    messages = served.messages
    first = frame_after(client, served, 1)
    later = first.later(first.time + 0.5, first.step + 250, first.tick)
    assert later.of_poses('made', lambda: 'late') is later.of_poses('made', lambda: 'later')
    viewer = Spectator()
    for frame in (first, first, later):
        assert served.show(viewer, frame)
    assert [viewer.newest['timestamp'], *viewer.newest['arms']] == [
        later.time,
        *(arm.full_name for arm in served.scene.arms),
    ]
    # As if it were the first message that is ever made.
    other = StateMessages(served.scene, messages._publications)
    anew = Spectator()
    anew.assets = frozenset(mesh.key for mesh in served.scene.bodies.meshes().values())
    other.show(anew, later, served.pool.ownership)
    assert anew.frames[0] == viewer.frames[-1]
    assert anew.frames[0] == framed(write_message('scene_state', anew.newest))


def test_what_moves_is_seen_to_move(world):
    client, served = world
    prefix = next(iter(served.scene.robots))
    names = [actuator.name for actuator in served.scene.robots[prefix].actuators.values()]
    viewer = Spectator()
    served.show(viewer, frame_after(client, served, 1))
    before = viewer.newest['arms']
    client.set_setpoints(prefix, dict.fromkeys(names, 0.3))
    frame = frame_after(client, served, 200)
    served.show(viewer, frame)
    after = viewer.newest['arms']
    assert viewer.newest['timestamp'] == frame.time
    for name in before:
        assert before[name]['centerline'] != after[name]['centerline']


def test_another_owner_is_seen_while_nothing_moves(world):
    client, served = world
    viewer = Spectator()
    frame = frame_after(client, served, 1)
    served.show(viewer, frame)
    holding = served.pool.take('somebody', 'tentacle', 1)
    served.show(viewer, frame.later(frame.time + 1.0, frame.step + 1, frame.tick))
    assert viewer.newest['user_arms'] == {'somebody': holding.arm_ids}
    assert set(holding.arm_ids) <= viewer.newest['arms'].keys()
    served.pool.release('somebody')
