# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description and transforms of links, as another node hears them."""

import xml.etree.ElementTree as ElementTree

from bridge_harness import LATCHED
from bridge_harness import wait_until
import pytest
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage


def transforms(message):
    return {
        t.child_frame_id: (
            t.header.frame_id,
            (t.transform.translation.x, t.transform.translation.y, t.transform.translation.z),
            (t.transform.rotation.x, t.transform.rotation.y, t.transform.rotation.z,
             t.transform.rotation.w),
        )
        for t in message.transforms
    }  # fmt: skip


def of_links(message):
    return any(t.child_frame_id == 'arm' for t in message.transforms)


def test_the_description_comes_to_late_subscribers(small_server, bridged, tmp_path):
    bridge, listener = bridged(small_server(), mesh_directory=str(tmp_path))
    wait_until(lambda: bridge.stream.world is not None)
    text = listener.wait_for(String, 'robot_description', qos=LATCHED).data
    links = {link.get('name') for link in ElementTree.fromstring(text).findall('link')}
    assert links == {'base_link', 'arm', 'lift'}


def test_published_links_have_the_poses_of_the_simulation(small_server, bridged):
    server = small_server()
    server.data.qvel[6:8] = 0.7, -0.3
    _, listener = bridged(server, link_tf_rate=0.0)
    message = listener.wait_for(
        TFMessage, '/tf', lambda m: of_links(m) and m.transforms[0].header.stamp.sec > 0
    )
    found = transforms(message)
    assert {k: v[0] for k, v in found.items()} == {'arm': 'base_link', 'lift': 'base_link'}
    ((sec, nanosec),) = {(t.header.stamp.sec, t.header.stamp.nanosec) for t in message.transforms}
    seconds = sec + nanosec * 1e-9
    # Nothing pulls at the slide but what the base feels.
    (_, position, turn) = found['lift']
    assert position[2] < -0.05 * seconds and turn == (0, 0, 0, 1)
    assert position[:2] == pytest.approx((0, -0.3))
    x, y, z, _ = found['arm'][2]
    assert y != 0 and x == z == 0


def test_the_state_publisher_can_take_over(small_server, bridged):
    _, listener = bridged(small_server(), publish_link_tf=False)
    messages = listener.listen(TFMessage, '/tf')
    wait_until(lambda: len(messages) > 30)
    assert not any(map(of_links, messages)), 'odometry alone'
    static = transforms(listener.wait_for(TFMessage, '/tf_static', qos=LATCHED))
    assert 'imu_link' in static, 'sensors are no part of the description'
