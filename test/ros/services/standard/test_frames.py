# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of requests: laws on the pure functions."""

import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.geometry import conjugate
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import rotate

pytestmark = pytest.mark.ros
frames = pytest.importorskip('urlab_ros_bridge.ros.services.standard.frames')

NUMBER = st.floats(-10, 10)
VECTOR = st.tuples(*[NUMBER] * 3)
TURN = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1).map(normalize)
POSES = st.tuples(VECTOR, TURN)


def same(pose, other):
    (position, turn), (place, twist) = pose, other
    close = abs(sum(a * b for a, b in zip(turn, twist, strict=True)))
    return position == pytest.approx(place, abs=1e-9) and close == pytest.approx(1)


def inverse(pose):
    position, turn = pose
    back = conjugate(turn)
    return tuple(-value for value in rotate(back, position)), back


@given(POSES, POSES)
def test_the_way_back_undoes_a_frame(frame, pose):
    assert same(frames.into_world(inverse(frame), frames.into_world(frame, pose)), pose)


@given(POSES, VECTOR)
def test_vectors_turn_with_a_frame_and_do_not_move(frame, vector):
    turned = frames.turned(frame, vector)
    assert math.hypot(*turned) == pytest.approx(math.hypot(*vector))
    ends = [frames.into_world(frame, (point, frame[1]))[0] for point in (vector, (0, 0, 0))]
    assert turned == pytest.approx([a - b for a, b in zip(*ends, strict=True)], abs=1e-9)
