# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Filters of entities: laws on the pure functions."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np

from urlab_ros_bridge.client.ops import EntityState
from urlab_ros_bridge.ros.extras.standard import filters

POINT = st.tuples(*[st.floats(-10, 10)] * 3).map(np.array)
SIZE = st.tuples(*[st.floats(0.01, 5)] * 3).map(np.array)


def entity(center=(0, 0, 0), half=None, kind='entity', **fields):
    center, still = np.array(center), np.zeros(3)
    if half is not None:
        fields['bounds'] = np.array([center - half, center + half])
    turn = np.array([1.0, 0, 0, 0])
    return EntityState('thing', kind, True, center, turn, still, still, 0, **fields)


@given(POINT, SIZE, POINT, st.floats(0, 8))
def test_a_sphere_overlaps_a_box_within_its_radius(center, half, middle, radius):
    gap = np.maximum(np.abs(middle - center) - half, 0)
    distance = np.linalg.norm(gap)
    if abs(distance - radius) > 1e-9:
        volume = (filters.SPHERE, np.array([middle, [radius, 0, 0]]))
        assert filters.overlap(entity(center, half), volume) == (distance < radius)


@given(POINT, SIZE, POINT, SIZE)
def test_boxes_overlap_where_no_axis_separates_them(center, half, middle, extent):
    gap = np.abs(middle - center) - half - extent
    if np.abs(gap).min() > 1e-9:
        volume = (filters.BOX, np.array([middle + extent, middle - extent]))
        found = filters.overlap(entity(center, half), volume)
        assert found == bool((gap < 0).all())
        # The order of the corners says nothing.
        assert filters.overlap(entity(center, half), (filters.BOX, volume[1][::-1])) == found
