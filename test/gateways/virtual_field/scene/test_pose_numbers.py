# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Points, directions and rotations of bodies, against SciPy; and messages filled with them."""

import numpy as np
import orjson
import pytest
from scipy.spatial.transform import Rotation

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import Y_UP_TURN
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import LAST
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import left_open
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import MessageTemplate
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import open_rows
from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import PoseNumbers

BODIES = 5


def frame_at(positions, turns):
    """Return a frame of bodies at these poses."""
    wxyz = turns.as_quat()[:, [3, 0, 1, 2]]
    poses = np.concatenate((positions, wxyz, turns.as_matrix().reshape(-1, 9)), axis=None)
    return SceneFrame(0.0, 0, None, np.zeros(0), poses, None)


@pytest.fixture
def chance():
    return np.random.default_rng(3)


@pytest.fixture
def frame(chance):
    turns = Rotation.random(BODIES, random_state=1)
    return frame_at(chance.uniform(-9, 9, (BODIES, 3)), turns), turns


def test_what_is_fixed_to_bodies_goes_with_them(chance, frame):
    frame, turns = frame
    numbers = PoseNumbers(BODIES)
    bodies = np.array([4, 0, 0, 2])
    places = chance.normal(size=(4, 3))
    points = numbers.add_points(bodies, places)
    directions = numbers.add_directions(bodies[:2], places[:2])
    rotations = numbers.add_turns(bodies, np.tile(Y_UP_TURN, (4, 1, 1)))
    numbers.follow(frame)
    turned = turns[bodies].apply(places)
    where = y_up(frame.body_positions[bodies] + turned)
    np.testing.assert_allclose(numbers.array(points), where, atol=1.1e-5)
    np.testing.assert_allclose(numbers.array(directions), y_up(turned[:2]), atol=1.1e-5)
    # The same rotation, of something whose own shape has y up as the world has.
    change = Rotation.from_matrix(y_up(np.eye(3)).T)
    wanted = change * turns[bodies] * change.inv()
    found = Rotation.from_quat(numbers.array(rotations))
    assert (wanted * found.inv()).magnitude().max() < 1e-4
    with pytest.raises(RuntimeError):
        numbers.add_points(bodies, places)


def test_a_message_has_the_rows_where_they_belong(chance, frame):
    frame, _turns = frame
    numbers = PoseNumbers(BODIES)
    everything = np.arange(BODIES)
    points = numbers.add_points(everything, np.zeros((BODIES, 3)))
    turns = numbers.add_turns(everything[:1], Y_UP_TURN[None])
    free = numbers.add_free(2)
    numbers.mend(lambda: numbers.array(free).__setitem__(0, [1.23456789, -2.0]))
    numbers.follow(frame)
    rows = open_rows(points)
    message = {
        'time': left_open(LAST),
        'name': '\x00' + '1',  # as JSON has it, it is no place for a row
        'turn': open_rows(turns)[0],
        'places': [rows[3], rows[0]],
        'free': open_rows(free),
        'again': rows[3],
    }
    template = MessageTemplate(orjson.dumps(message))
    for time in (0.25, 0.5):
        told = orjson.loads(template.fill([*numbers.texts(), b'%f' % time]))
        assert told == {
            'time': time,
            'name': '\x00' + '1',
            'turn': numbers.array(turns)[0].tolist(),
            'places': numbers.array(points)[[3, 0]].tolist(),
            'free': [[1.23457, -2.0]],
            'again': numbers.array(points)[3].tolist(),
        }


def test_a_message_without_rows_is_as_it_is():
    assert MessageTemplate(b'{}').fill(PoseNumbers(1).texts()) == b'{}'


def test_a_pose_that_is_not_finite_is_said_to_be_none():
    numbers = PoseNumbers(1)
    numbers.add_points(np.zeros(2, np.intp), np.zeros((2, 3)))
    frame = frame_at(np.array([[np.inf, 0.0, 0.0]]), Rotation.identity(1))
    numbers.follow(frame)
    with pytest.raises(ProtocolError, match='finite'):
        numbers.texts()
