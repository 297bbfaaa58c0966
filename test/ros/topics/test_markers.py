# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the scene, of entities and of contacts, as templates and over DDS."""

from bridge_harness import LATCHED
from bridge_harness import wait_until
import pytest
from small_model import XML
from stamps import ns_of
from urlab_msgs.msg import Contacts
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

FLOOR = XML.replace(
    '<body name="box"',
    '<geom name="floor" type="plane" size="3 3 .1" rgba="0 1 0 1"/>'
    '<body name="shelf" pos="1 1 1"><geom type="box" size=".1 .2 .3"/></body><body name="box"',
)


def added(message):
    return [m for m in message.markers if m.action == Marker.ADD]


def test_the_scene_is_latched_and_repeated_after_a_reset(small_server, bridged):
    server = small_server(model_xml=FLOOR)
    _, listener = bridged(server)
    messages = listener.listen(MarkerArray, 'markers/scene', LATCHED)
    message = listener.wait_for(MarkerArray, 'markers/scene')
    assert message.markers[0].action == Marker.DELETEALL
    floor, shelf = added(message)
    assert floor.ns == 'world' and floor.scale.x == 6.0 and floor.color.g == 1.0
    assert floor.pose.position.z + floor.scale.z / 2 == pytest.approx(0.0)
    assert (shelf.ns, shelf.pose.position.z, shelf.scale.y) == ('shelf', 1, pytest.approx(0.4))
    # The robot floats, so its odometry frame is the one that transforms lead to.
    assert {m.header.frame_id for m in message.markers} == {'odom'}
    count = len(messages)
    with server.lock:
        server.handler('reset')({})
    wait_until(lambda: len(messages) > count)


def test_markers_of_entities_are_published_while_they_move(small_server, bridged):
    server = small_server(model_xml=FLOOR)
    with server.lock:
        server.data.time, server.data.joint('box').qvel[0] = 0.0, 0.5
    _, listener = bridged(server, marker_rate=20.0, publish_entities=False)
    messages = listener.listen(MarkerArray, 'markers/entities')
    wait_until(lambda: len(messages) > 3)
    assert messages[0].markers[0].action == Marker.DELETEALL
    for message in list(messages)[1:]:
        (box,) = added(message)
        assert box.ns == 'box' and box.type == Marker.SPHERE
        assert box.pose.position.x == pytest.approx(2.0 + 0.5e-9 * ns_of(box), abs=0.002)


def test_contacts_are_published_as_numbers_without_markers(small_server, bridged):
    server = small_server()
    names = {'geom1': 'a', 'geom2': 'b', 'body1': 'c', 'body2': 'd'}
    place = {'dist': -0.01, 'pos': [1.0, 2.0, 3.0], 'normal': [0.0, 0, 1]}
    contact = {**names, **place, 'force': [10.0, 1.0, 2.0, 0, 0, 0.5]}
    reply = {'op': 'get_contacts_ok', 'n_contacts': 1, 'truncated': True, 'contacts': [contact]}
    server.answer('get_contacts', reply)
    _, listener = bridged(server, publish_markers=False)
    found = listener.wait_for(Contacts, 'contacts')
    assert found.header.frame_id == 'map' and found.truncated
    assert found.header.stamp.nanosec or found.header.stamp.sec
    (one,) = found.contacts
    assert (one.geom1, one.body2, one.distance) == ('a', 'd', -0.01)
    assert (one.position.y, one.normal.z) == (2.0, 1.0)
    assert (one.wrench.force.x, one.wrench.torque.z) == (10.0, 0.5)
