# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The free camera: framing, following, and what renderers and replies get."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.sim.editor.viewport import Tracking
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


@settings(deadline=None, max_examples=examples(50))
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
    shown = view.view()
    assert np.allclose(shown['forward'], rotate(from_euler(euler), (1, 0, 0)))
    to_center = (low + high) / 2 - shown['pos']
    distance = np.linalg.norm(to_center)
    assert np.allclose(to_center / distance, shown['forward'], atol=1e-6)
    angle = np.degrees(np.arcsin(min(np.linalg.norm(size) / 2 / distance, 1.0)))
    assert angle <= fov / 2 + 1e-6


def test_it_follows_an_actor_at_its_offset_and_looks_at_it():
    scene = Scene()
    view = scene.viewport()
    view.track(Tracking('robot', (-2.0, 0.0, 1.0), 0.0))
    # The actor's x axis is the world's y axis.
    assert view.pose.position == pytest.approx((10, -2, 1))
    assert rotate(view.pose.orientation, (1, 0, 0)) == pytest.approx(np.array([0, 2, -1]) / 5**0.5)
    scene.pose = Pose((20.0, 0.0, 0.0), scene.pose.orientation)
    assert view.pose.position == pytest.approx((20, -2, 1))
    assert view.untrack() is True
    scene.pose = Pose()
    assert view.pose.position == pytest.approx((20, -2, 1)) and view.untrack() is False


def test_smoothing_closes_the_gap_by_the_same_share_however_often_it_is_asked():
    def after_a_tenth(asks):
        scene = Scene()
        view = scene.viewport()
        view.pose = Pose((0, 0, 0))
        view.track(Tracking('robot', (0.0, 0.0, 1.0), 0.8))
        for _ in range(asks):
            scene.now += 0.1 / asks
            place = view.pose.position
        return place

    assert after_a_tenth(1) == pytest.approx(after_a_tenth(7))
    assert 0 < after_a_tenth(1)[0] < 10
    assert after_a_tenth(1)[0] == pytest.approx(10 * (1 - 0.8**6))


def test_an_actor_that_goes_is_followed_no_longer():
    view = Scene().viewport()
    view.track(Tracking('gone', (0.0, 0.0, 1.0), 0.0))
    before = view.describe()['location']
    assert view.tracking is None and view.describe()['location'] == before


def test_a_reply_and_a_renderer_are_told_the_same():
    view = Scene().viewport()
    view.pose = Pose((1, 2, 3), from_euler((0, 30, 45)))
    reply, shown = view.describe(), view.view()
    assert reply['rotation_euler'] == pytest.approx([0, 30, 45])
    assert rotate(reply['rotation_quat'], (1, 0, 0)) == pytest.approx(shown['forward'])
    assert rotate(reply['rotation_quat'], (0, 0, 1)) == pytest.approx(shown['up'])
