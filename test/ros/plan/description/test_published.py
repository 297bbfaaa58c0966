# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of links, as another node hears them."""

from bridge_harness import LATCHED
from bridge_harness import wait_until
import numpy as np
import pytest
from small_model import XML
from stamps import ns_of
from tf2_msgs.msg import TFMessage

from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import wxyz_to_xyzw

BALL = XML.replace(
    'axis="0 0 1"/>',
    'axis="0 0 1"/><body name="{p}_wrist" pos="0 .2 0">'
    '<joint name="{p}_wrist" type="ball" pos="0 .05 0"/><geom size="0.05" mass=".2"/></body>',
)


def children(message):
    return {each.child_frame_id: each for each in message.transforms}


def test_published_links_have_the_poses_of_the_simulation(small_server, bridged):
    server = small_server()
    server.data.qvel[6:8] = 0.7, -0.3
    _, listener = bridged(server, link_tf_rate=0.0)
    message = listener.wait_for(
        TFMessage, '/tf', lambda m: 'arm' in children(m) and ns_of(m) > 2 * 10**8
    )
    found = children(message)
    assert found.keys() == {'arm', 'lift'}
    assert all(each.header.frame_id == 'base_link' for each in message.transforms)
    assert found['arm'].header.stamp == found['lift'].header.stamp
    # Nothing pulls at the slide but what the base feels.
    place = found['lift'].transform.translation
    assert place.z < -0.05 * ns_of(found['lift']) * 1e-9
    assert (place.x, place.y) == pytest.approx((0, -0.3))
    turn = found['arm'].transform.rotation
    assert turn.y != 0 and turn.x == turn.z == 0


def test_ball_joints_are_published_as_chains_of_links(small_server, bridged):
    server = small_server(model_xml=BALL)
    original, turn = server._state, (0.5, 0.5, -0.5, 0.5)

    def state_with_ball(level):
        # The server sends the first 9 coordinates; this robot has 13.
        state = original(level)
        state['per_articulation']['bot']['qpos'] = server.data.qpos[:13].tolist()
        return state

    with server.lock:
        server._state, server.paused = state_with_ball, True
        server.data.joint('bot_wrist').qpos = turn
    _, listener = bridged(server)
    found = children(listener.wait_for(TFMessage, '/tf', lambda m: 'wrist_z_link' in children(m)))
    found |= children(listener.wait_for(TFMessage, '/tf_static', qos=LATCHED))
    pose, link = ((0, 0, 0), (0, 0, 0, 1)), 'wrist'
    while link != 'lift':
        place, rotation = found[link].transform.translation, found[link].transform.rotation
        rotation = (rotation.x, rotation.y, rotation.z, rotation.w)
        pose = compose((place.x, place.y, place.z), rotation, *pose)
        link = found[link].header.frame_id
    assert np.abs(np.dot(pose[1], wxyz_to_xyzw(turn))) == pytest.approx(1.0, abs=1e-6)


def test_the_state_publisher_can_take_over(small_server, bridged):
    _, listener = bridged(small_server(), publish_link_tf=False)
    messages = listener.listen(TFMessage, '/tf')
    wait_until(lambda: len(messages) > 30)
    assert not any('arm' in children(message) for message in messages), 'odometry alone'
    static = children(listener.wait_for(TFMessage, '/tf_static', qos=LATCHED))
    assert 'imu_link' in static, 'sensors are no part of the description'
