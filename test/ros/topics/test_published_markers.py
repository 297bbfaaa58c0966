# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Markers as another node hears them."""

import time

from bridge_harness import LATCHED
from bridge_harness import wait_for_message
from bridge_harness import wait_until
import pytest
from small_model import XML
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

pytestmark = pytest.mark.ros
Contacts = pytest.importorskip('urlab_msgs.msg').Contacts

FLOOR = XML.replace(
    '<body name="box"',
    '<geom name="floor" type="plane" size="3 3 .1" rgba="0 1 0 1"/>'
    '<body name="shelf" pos="1 1 1"><geom type="box" size=".1 .2 .3"/></body><body name="box"',
)


def added(message):
    return [m for m in message.markers if m.action == Marker.ADD]


def test_the_scene_is_latched_and_comes_again_after_a_reset(small_server, bridged):
    server = small_server(model_xml=FLOOR)
    _, listener = bridged(server)
    heard = listener.listen(MarkerArray, 'markers/scene', LATCHED)
    message = wait_for_message(listener, MarkerArray, 'markers/scene')
    assert message.markers[0].action == Marker.DELETEALL
    floor, shelf = added(message)
    assert floor.ns == 'world' and floor.scale.x == 6.0 and floor.color.g == 1.0
    assert floor.pose.position.z + floor.scale.z / 2 == pytest.approx(0.0)
    place = shelf.pose.position
    assert (shelf.ns, place.x, place.y, place.z) == ('shelf', 1, 1, 1)
    assert (shelf.scale.x, shelf.scale.y, shelf.scale.z) == pytest.approx((0.2, 0.4, 0.6))
    # The robot floats, so its odometry frame is the one that transforms lead to.
    assert {m.header.frame_id for m in message.markers} == {'odom'}
    # It comes anew with the first tick, if somebody listened before.
    time.sleep(0.3)
    count = len(heard)
    time.sleep(0.3)
    assert len(heard) == count, 'nothing has changed'
    with server.lock:
        server.handler('reset')({})
    wait_until(lambda: len(heard) == count + 1)


def test_entities_follow_the_simulation_and_rest_with_it(small_server, bridged):
    server = small_server(model_xml=FLOOR)
    with server.lock:
        server.data.time, server.data.joint('box').qvel[0] = 0.0, 0.5
    _, listener = bridged(server, marker_rate=20.0, publish_entities=False)
    heard = listener.listen(MarkerArray, 'markers/entities')
    wait_until(lambda: len(heard) > 3)
    assert heard[0].markers[0].action == Marker.DELETEALL
    for message in list(heard)[1:]:
        (box,) = added(message)
        stamp = box.header.stamp.sec + box.header.stamp.nanosec * 1e-9
        assert box.ns == 'box' and box.type == Marker.SPHERE
        assert box.pose.position.x == pytest.approx(2.0 + 0.5 * stamp, abs=0.002)
    server.data.joint('box').qvel[0] = 0.0
    time.sleep(0.3)
    count = len(heard)
    time.sleep(0.5)
    assert len(heard) == count


def test_contacts_come_as_numbers_too_and_without_markers(small_server, bridged):
    server = small_server()
    names = {'geom1': 'a', 'geom2': 'b', 'body1': 'c', 'body2': 'd'}
    place = {'dist': -0.01, 'pos': [1.0, 2.0, 3.0], 'normal': [0.0, 0, 1]}
    contact = {**names, **place, 'force': [10.0, 1.0, 2.0, 0, 0, 0.5]}
    reply = {'op': 'get_contacts_ok', 'n_contacts': 1, 'truncated': True, 'contacts': [contact]}
    server.answer('get_contacts', reply)
    _, listener = bridged(server, publish_markers=False)
    found = wait_for_message(listener, Contacts, 'contacts')
    assert found.header.frame_id == 'map' and found.truncated
    assert found.header.stamp.nanosec or found.header.stamp.sec
    (one,) = found.contacts
    assert (one.geom1, one.body2, one.distance) == ('a', 'd', -0.01)
    assert (one.position.y, one.normal.z) == (2.0, 1.0)
    assert (one.wrench.force.x, one.wrench.torque.z) == (10.0, 0.5)
