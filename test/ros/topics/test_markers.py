# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Markers made of scene and contacts."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.client.replies.ops import Contact
from urlab_ros_bridge.ros.link.contacts import contact_markers
from urlab_ros_bridge.ros.topics.markers import marker
from urlab_ros_bridge.ros.topics.markers import MarkersTemplate

pytestmark = pytest.mark.ros


def rows(rng, count):
    made = rng.normal(size=(count, 7))
    made[:, 3:] /= np.linalg.norm(made[:, 3:], axis=1, keepdims=True)
    return made


def test_markers_move_and_stay_what_they_are():
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


def test_a_contact_is_a_dot_and_an_arrow_as_long_as_its_force():
    dot, arrow, lone = contact_markers('odom', 5, [contact(20.0), contact(0.0)], 0.01)
    assert (dot.type, arrow.type, lone.type) == (Marker.SPHERE, Marker.ARROW, Marker.SPHERE)
    start, end = arrow.points
    assert (start.x, start.y, start.z) == (1, 2, 0)
    assert (end.x, end.y, end.z) == (1, 2, pytest.approx(0.2))
    assert {m.header.frame_id for m in (dot, arrow, lone)} == {'odom'}
    assert len({(m.ns, m.id) for m in (dot, arrow, lone)}) == 3
