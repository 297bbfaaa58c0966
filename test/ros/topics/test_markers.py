# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the scene, of entities and of contacts, as templates and over DDS."""

import time

from bridge_harness import LATCHED
from bridge_harness import wait_until
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from small_model import XML
from urlab_msgs.msg import Contacts
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.ros.link.contacts import contact_markers
from urlab_ros_bridge.ros.topics.markers import marker
from urlab_ros_bridge.ros.topics.markers import MarkersTemplate


def rows(rng, count):
    made = rng.normal(size=(count, 7))
    made[:, 3:] /= np.linalg.norm(made[:, 3:], axis=1, keepdims=True)
    return made


def test_an_update_of_markers_changes_only_stamps_and_poses():
    markers = [
        marker('map', 'a', 0, Marker.CUBE, scale=(1, 2, 3), color=(1, 0, 0, 1)),
        marker('map', 'entity b', 1, Marker.MESH_RESOURCE, scale=(1, 1, 1)),
        marker('map', 'c', 2, Marker.SPHERE),
    ]
    markers[1].mesh_resource = 'file:///tmp/a.stl'
    template = MarkersTemplate(markers)
    poses = rows(np.random.default_rng(2), 3)
    found = deserialize_message(template.update(3_000_000_007, poses), MarkerArray)
    for mine, sample, (x, y, z, qx, qy, qz, qw) in zip(
        found.markers, markers, poses.tolist(), strict=True
    ):
        assert (mine.header.stamp.sec, mine.header.stamp.nanosec) == (3, 7)
        assert (mine.pose.position.x, mine.pose.position.y, mine.pose.position.z) == (x, y, z)
        turn = mine.pose.orientation
        assert (turn.x, turn.y, turn.z, turn.w) == (qx, qy, qz, qw)
        mine.header, mine.pose = sample.header, sample.pose
    assert found.markers == markers


def contact(force):
    pos, normal = np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0])
    return Contact('a', 'b', 'c', 'd', pos, normal, -0.001, np.array([force, 0, 0, 0, 0, 0]))


def test_a_contact_is_a_sphere_and_an_arrow_scaled_by_its_force():
    dot, arrow, lone = contact_markers('odom', 5, [contact(20.0), contact(0.0)], 0.01)
    assert (dot.type, arrow.type, lone.type) == (Marker.SPHERE, Marker.ARROW, Marker.SPHERE)
    start, end = arrow.points
    assert (start.x, start.y, start.z) == (1, 2, 0)
    assert (end.x, end.y, end.z) == (1, 2, pytest.approx(0.2))
    assert {m.header.frame_id for m in (dot, arrow, lone)} == {'odom'}
    assert len({(m.ns, m.id) for m in (dot, arrow, lone)}) == 3


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
    place = shelf.pose.position
    assert (shelf.ns, place.x, place.y, place.z) == ('shelf', 1, 1, 1)
    assert (shelf.scale.x, shelf.scale.y, shelf.scale.z) == pytest.approx((0.2, 0.4, 0.6))
    # The robot floats, so its odometry frame is the one that transforms lead to.
    assert {m.header.frame_id for m in message.markers} == {'odom'}
    # It comes anew with the first tick, for earlier subscribers.
    time.sleep(0.3)
    count = len(messages)
    time.sleep(0.3)
    assert len(messages) == count, 'nothing has changed'
    with server.lock:
        server.handler('reset')({})
    wait_until(lambda: len(messages) == count + 1)


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
        stamp = box.header.stamp.sec + box.header.stamp.nanosec * 1e-9
        assert box.ns == 'box' and box.type == Marker.SPHERE
        assert box.pose.position.x == pytest.approx(2.0 + 0.5 * stamp, abs=0.002)
    server.data.joint('box').qvel[0] = 0.0
    time.sleep(0.3)
    count = len(messages)
    time.sleep(0.5)
    assert len(messages) == count


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
