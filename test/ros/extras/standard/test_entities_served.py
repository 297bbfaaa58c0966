# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Entities: filters, states, bounds, poses with names; the server tells whether it is true."""

import math

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
import pytest
from simulation_interfaces import msg
from simulation_interfaces import srv
from std_msgs.msg import Header

HALF = math.sqrt(0.5)
INVALID_POSE = srv.SetEntityState.Response.INVALID_POSE
FAILED = msg.Result.RESULT_OPERATION_FAILED


@pytest.fixture(autouse=True)
def _held(yard):
    """Time is frozen at the start, so that nothing moves by itself."""
    yard.client.set_paused(True)
    yard.client.reset()


def names(yard, **fields):
    return list(yard.well('get_entities', filters=msg.EntityFilters(**fields)).entities)


def vector(x=0.0, y=0.0, z=0.0):
    return Vector3(x=float(x), y=float(y), z=float(z))


def numbers(ros):
    return [getattr(ros, axis) for axis in 'xyzw' if hasattr(ros, axis)]


def state(frame='', position=(0, 0, 0), turn=(0, 0, 0, 1), linear=(0, 0, 0), angular=(0, 0, 0)):
    return msg.EntityState(
        header=Header(frame_id=frame),
        pose=Pose(
            position=Point(**dict(zip('xyz', map(float, position), strict=True))),
            orientation=Quaternion(**dict(zip('xyzw', map(float, turn), strict=True))),
        ),
        twist=Twist(linear=vector(*linear), angular=vector(*angular)),
    )


@pytest.mark.parametrize(
    ('fields', 'expected'),
    [
        ({'filter': '^[a-c]'}, ['ball', 'cart']),
        ({'categories': [msg.EntityCategory(category=c) for c in (1, 5)]}, ['cart', 'pillar']),
        ({'tags': msg.TagsFilter(tags=['mocap', 'movable'], filter_mode=1)}, ['mark']),
        ({'bounds': msg.Bounds(type=3, points=[vector(3, 0, 0.5), vector(0.45)])}, ['ball']),
        ({'filter': 'a', 'tags': msg.TagsFilter(tags=['static'])}, ['pillar']),
    ],
)
def test_filters(yard, fields, expected):
    assert names(yard, **fields) == expected


def test_a_state_takes_effect_at_once(yard):
    wanted = state('', (1, 2, 3), (0, 0, HALF, HALF), (0.1, 0.2, 0.3), (0, 0, 1))
    yard.well('set_entity_state', entity='ball', state=wanted)
    ball = yard.client.get_entities(['ball'])['ball']
    assert ball.pos.tolist() == [1, 2, 3]
    assert ball.quat.tolist() == pytest.approx([HALF, 0, 0, HALF])
    assert ball.linear.tolist() == pytest.approx([0.1, 0.2, 0.3])
    # In the world, both of them: this is not the twist of an odometry.
    assert ball.angular.tolist() == pytest.approx([0, 0, 1])
    read = yard.well('get_entity_state', entity='ball').state
    assert numbers(read.twist.linear) == pytest.approx([0.1, 0.2, 0.3])
    assert numbers(read.pose.orientation) == pytest.approx([0, 0, HALF, HALF])


def test_poses_and_twists_in_the_frame_of_another(yard):
    # The cart faces along y.
    yard.client.set_entity_state('cart', pos=(1, 0, 0.2), quat=(HALF, 0, 0, HALF))
    wanted = state('base_link', (2, 0, 1), linear=(1, 0, 0), angular=(0, 1, 0))
    yard.well('set_entity_state', entity='ball', state=wanted)
    ball = yard.client.get_entities(['ball'])['ball']
    assert ball.pos.tolist() == pytest.approx([1, 2, 1.2])
    assert ball.quat.tolist() == pytest.approx([HALF, 0, 0, HALF])
    assert ball.linear.tolist() == pytest.approx([0, 1, 0])
    assert ball.angular.tolist() == pytest.approx([-1, 0, 0])


@pytest.mark.parametrize(
    ('entity', 'wanted', 'result'),
    [
        ('nobody', state(), msg.Result.RESULT_NOT_FOUND),
        ('ball', state(turn=(0, 0, 0, 0)), INVALID_POSE),
        ('ball', state('nowhere'), INVALID_POSE),
        ('ball', state(linear=(math.inf, 0, 0)), FAILED),
        ('pillar', state(), FAILED),
    ],
)
def test_invalid_states_are_refused_and_change_nothing(yard, entity, wanted, result):
    before = yard.well('get_entities_states').states
    answer = yard.ask('set_entity_state', entity=entity, state=wanted).result
    assert answer.result == result and answer.error_message
    assert yard.well('get_entities_states').states == before


def test_bounds_are_relative_to_the_body(yard):
    # However it lies; the pillar stands turned, and its box is given along its own axes.
    yard.client.set_entity_state('mark', pos=(7, 8, 9), quat=(0.8, 0.2, 0.4, 0.4))
    for name, upper, lower in (
        ('mark', (0.1, 0.2, 0.3), (-0.1, -0.2, -0.3)),
        ('pillar', (0.4, 0.1, 2.0), (-0.4, -0.1, 0.0)),
    ):
        bounds = yard.well('get_entity_bounds', entity=name).bounds
        assert bounds.type == msg.Bounds.TYPE_BOX
        assert numbers(bounds.points[0]) == pytest.approx(upper, abs=1e-6)
        assert numbers(bounds.points[1]) == pytest.approx(lower, abs=1e-6)


def test_named_poses_are_sites_and_keyframes(yard):
    poses = {each.name: each for each in yard.well('get_named_poses').poses}
    assert set(poses) == {'dock', 'cart_parked'}
    assert numbers(poses['dock'].pose.position) == [1, 2, 0.5]
    assert numbers(poses['dock'].pose.orientation) == pytest.approx([0, 0, 1, 0])
    yard.client.reset('cart_parked')
    parked = yard.well('get_entity_state', entity='cart').state.pose
    assert poses['cart_parked'].pose == parked and numbers(parked.position) == [-1, 1, 0.2]
    tagged = yard.well('get_named_poses', tags=msg.TagsFilter(tags=['site'])).poses
    assert [each.name for each in tagged] == ['dock']
