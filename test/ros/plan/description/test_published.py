# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of links, as another node hears them."""

from bridge_harness import LATCHED
from bridge_harness import wait_until
import pytest
from tf2_msgs.msg import TFMessage


def children(message):
    return {each.child_frame_id: each for each in message.transforms}


def test_published_links_have_the_poses_of_the_simulation(small_server, bridged):
    server = small_server()
    server.data.qvel[6:8] = 0.7, -0.3
    _, listener = bridged(server, link_tf_rate=0.0)
    message = listener.wait_for(
        TFMessage, '/tf', lambda m: 'arm' in children(m) and m.transforms[0].header.stamp.sec > 0
    )
    found = children(message)
    assert found.keys() == {'arm', 'lift'}
    assert all(each.header.frame_id == 'base_link' for each in message.transforms)
    assert found['arm'].header.stamp == found['lift'].header.stamp
    # Nothing pulls at the slide but what the base feels.
    stamp, place = found['lift'].header.stamp, found['lift'].transform.translation
    assert place.z < -0.05 * (stamp.sec + stamp.nanosec * 1e-9)
    assert (place.x, place.y) == pytest.approx((0, -0.3))
    turn = found['arm'].transform.rotation
    assert turn.y != 0 and turn.x == turn.z == 0


def test_the_state_publisher_can_take_over(small_server, bridged):
    _, listener = bridged(small_server(), publish_link_tf=False)
    messages = listener.listen(TFMessage, '/tf')
    wait_until(lambda: len(messages) > 30)
    assert not any('arm' in children(message) for message in messages), 'odometry alone'
    static = children(listener.wait_for(TFMessage, '/tf_static', qos=LATCHED))
    assert 'imu_link' in static, 'sensors are no part of the description'
