# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who draws all that is published sees the simulated world."""

from bridge_harness import wait_until
import numpy as np
import pytest
from std_msgs.msg import String
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from test.config.drawn_world import distances
from test.config.drawn_world import DrawnWorld

pytestmark = pytest.mark.ros


def drawn(running):
    """Build a world from robot descriptions, transforms and markers."""
    scene = running.first(MarkerArray, 'markers/scene', True)
    shown = [scene]
    if '/markers/entities' in running.topics:
        running.first(MarkerArray, 'markers/entities', True)
        shown.append(running.listener.heard['markers/entities'][-1])
    markers = [each for array in shown for each in array.markers if each.action == Marker.ADD]
    # All markers are in one frame, which has the origin of the world.
    world = DrawnWorld(running.frames_in(markers[0].header.frame_id))
    for marker in markers:
        world.add_marker(marker)
    for space in running.robots:
        world.add_robot(running.first(String, f'{space}robot_description', True).data)
    return world.compiled()


def views(running, model, data):
    """Return eye, axes and field of view (degrees): of the overview camera, and of each robot."""
    camera = model.camera('overview').id
    axes = data.cam_xmat[camera].reshape(3, 3).T
    yield data.cam_xpos[camera], axes, float(model.cam_fovy[camera])
    for prefix in running.robots.values():
        away = np.array([1.0, 0.7, 0.6])
        eye, backward = data.body(f'{prefix}_base_link').xipos + away, away / np.linalg.norm(away)
        right = np.cross([0.0, 0.0, 1.0], backward)
        right /= np.linalg.norm(right)
        yield eye, np.array([right, np.cross(backward, right), backward]), 35.0


def test_the_published_world_is_the_simulated_one(running):
    wait_until(running.is_still)
    model, data = drawn(running)
    with running.simulated() as simulated:
        looks = [
            (distances(*simulated, *view), distances(model, data, *view))
            for view in views(running, *simulated)
        ]
    assert len(looks) == 1 + len(running.robots)
    for truth, seen in looks:
        assert np.mean(truth > 0) > 0.5
        # Floors are slabs with an end where the simulated plane has none.
        both = (seen > 0) & (truth > 0)
        assert np.mean(both == (truth > 0)) > 0.98
        # Nothing moves any more; at an edge a ray may pass one and meet the other.
        error = np.abs(seen - truth)[both]
        assert np.quantile(error, 0.99) < 1e-3, np.quantile(error, [0.5, 0.9, 0.95, 0.99])
