# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Filters of entities: laws on the pure functions."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.client.ops import EntityState

pytestmark = pytest.mark.ros
filters = pytest.importorskip('urlab_ros_bridge.ros.services.standard.filters')
results = pytest.importorskip('urlab_ros_bridge.ros.services.standard.results')

POINT = st.tuples(*[st.floats(-10, 10)] * 3).map(np.array)
SIZE = st.tuples(*[st.floats(0.01, 5)] * 3).map(np.array)


def entity(center=(0, 0, 0), half=None, kind='entity', **fields):
    center, still = np.array(center), np.zeros(3)
    if half is not None:
        fields['bounds'] = np.array([center - half, center + half])
    turn = np.array([1.0, 0, 0, 0])
    return EntityState('thing', kind, True, center, turn, still, still, 0, **fields)


@pytest.mark.parametrize(
    ('text', 'fits', 'differs'),
    [
        ('', ('anything', ''), ()),
        ('box', ('box', 'big_box_2'), ('ball',)),
        ('^box$', ('box',), ('box_2', 'a_box')),
        ('^box_[[:digit:]]+$', ('box_1', 'box_22'), ('box_a', 'box_')),
        ('^[[:alpha:]_]+$', ('a_b',), ('a1',)),
        ('(rover|arm)_?[0-9]{1,2}', ('rover1', 'arm_12'), ('rover', 'leg_1')),
        ('^[^[:upper:]]*$', ('low',), ('High',)),
    ],
)
def test_expressions_are_posix_extended(text, fits, differs):
    pattern = filters.expression(text)
    assert all(pattern.search(name) for name in fits)
    assert not any(pattern.search(name) for name in differs)


@pytest.mark.parametrize('text', ['(', '[a', '*', '[[:nothing:]]'])
def test_an_expression_that_cannot_be_read_is_told(text):
    with pytest.raises(results.StandardRejected) as caught:
        filters.expression(text)
    assert caught.value.result == results.FAILED and repr(text) in str(caught.value)


@given(POINT, SIZE, POINT, st.floats(0, 8))
def test_a_sphere_meets_a_box_where_the_box_comes_within_its_radius(center, half, middle, radius):
    gap = np.maximum(np.abs(middle - center) - half, 0)
    distance = np.linalg.norm(gap)
    if abs(distance - radius) > 1e-9:
        volume = (filters.SPHERE, np.array([middle, [radius, 0, 0]]))
        assert filters.overlap(entity(center, half), volume) == (distance < radius)


@given(POINT, SIZE, POINT, SIZE)
def test_boxes_meet_where_no_axis_keeps_them_apart(center, half, middle, extent):
    gap = np.abs(middle - center) - half - extent
    if np.abs(gap).min() > 1e-9:
        volume = (filters.BOX, np.array([middle + extent, middle - extent]))
        found = filters.overlap(entity(center, half), volume)
        assert found == bool((gap < 0).all())
        # The order of the corners says nothing.
        assert filters.overlap(entity(center, half), (filters.BOX, volume[1][::-1])) == found


def test_what_has_no_geometry_is_where_its_body_is():
    volume = (filters.SPHERE, np.array([[1.0, 0, 0], [0.5, 0, 0]]))
    assert filters.overlap(entity(np.array([1.4, 0, 0])), volume)
    assert not filters.overlap(entity(np.array([1.6, 0, 0])), volume)


@given(st.sets(st.sampled_from('abcd')), st.sets(st.sampled_from('abcd')), st.booleans())
def test_tags_any_or_all(tags, wanted, every):
    told = SimpleNamespace(tags=sorted(wanted), filter_mode=int(every))
    expected = wanted <= tags if every else not wanted or bool(wanted & tags)
    assert filters.has_tags(tags, told) == expected


def test_every_kind_has_a_category_and_tags():
    categories = {
        kind: filters.category_of(entity(kind=kind))
        for kind in ('articulation', 'entity', 'mocap', 'static', 'unheard_of')
    }
    message = pytest.importorskip('simulation_interfaces.msg').EntityCategory
    assert categories == {
        'articulation': message.CATEGORY_ROBOT,
        'entity': message.CATEGORY_DYNAMIC_OBJECT,
        'mocap': message.CATEGORY_DYNAMIC_OBJECT,
        'static': message.CATEGORY_STATIC_OBJECT,
        'unheard_of': message.CATEGORY_OBJECT,
    }
    assert filters.tags_of(entity(spawned=True)) == ['entity', 'movable', 'spawned']
