# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The free camera frames what it is asked to show."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.sim.editor.viewport import Viewport


class Scene:
    """A clock and one actor."""

    def __init__(self):
        self.now = 0.0
        self.pose = Pose((10.0, 0.0, 0.0), from_euler((0, 0, 90)))

    def pose_of(self, name):
        return self.pose if name == 'robot' else None

    def viewport(self):
        return Viewport(self.pose_of, lambda: self.now)


@given(
    st.tuples(*[st.floats(-180, 180)] * 3),
    st.floats(5, 170),
    st.tuples(*[st.floats(0.01, 50)] * 3),
)
def test_a_framed_box_lies_within_the_field_of_view(euler, fov, size):
    view = Scene().viewport()
    view.pose, view.fov = Pose((3, 3, 3), from_euler(euler)), fov
    low = np.array([1.0, 2.0, 3.0])
    high = low + size
    view.frame(low, high)
    forward = rotate(view.pose.orientation, (1, 0, 0))
    assert np.allclose(forward, rotate(from_euler(euler), (1, 0, 0)))
    to_center = (low + high) / 2 - view.pose.position
    distance = np.linalg.norm(to_center)
    assert np.allclose(to_center / distance, forward, atol=1e-6)
    angle = np.degrees(np.arcsin(min(np.linalg.norm(size) / 2 / distance, 1.0)))
    assert angle <= fov / 2 + 1e-6
