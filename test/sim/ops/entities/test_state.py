# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing the state of robots, entities and mocap bodies."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

COORDINATE = st.floats(-50, 50)
VECTOR = st.lists(COORDINATE, min_size=3, max_size=3)
ROTATION = st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(
    lambda quat: np.linalg.norm(quat) > 0.01
)
FREE = ('rover', 'pallet')


def state(rig, name, **fields):
    (found,) = rig.ask('get_entities', entities=[name], **fields)['entities']
    return found


def velocity(rig, body):
    """Return MuJoCo's own answer: linear and angular, of the body's origin, in the world."""
    both = np.empty(6)
    kind = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectVelocity(rig.model, rig.data, kind, rig.model.body(body).id, both, 0)
    return both[3:], both[:3]


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(FREE), VECTOR, ROTATION, VECTOR, VECTOR)
def test_a_written_state_is_that_of_mujoco(shared_rig, name, pos, quat, linear, angular):
    written = shared_rig.ask(
        'set_entity_state', entity=name, pos=pos, quat=quat, linear=linear, angular=angular
    )
    body = 'rover_base_link' if name == 'rover' else name
    data = shared_rig.data.body(body)
    unit = np.array(quat) / np.linalg.norm(quat)
    assert data.xpos == pytest.approx(pos) and data.xquat == pytest.approx(unit)
    moving, turning = velocity(shared_rig, body)
    assert moving == pytest.approx(linear, abs=1e-9) and turning == pytest.approx(angular)
    read = state(shared_rig, name)
    assert read.items() <= written.items()
    for key, value in (('pos', pos), ('quat', unit), ('linear', linear), ('angular', angular)):
        assert read[key] == pytest.approx(list(value), abs=1e-9)


def test_a_mocap_body_takes_a_pose_and_no_velocity(shared_rig):
    shared_rig.ask('set_entity_state', entity='target', pos=[1, 2, 3], quat=[0, 2, 0, 0])
    assert shared_rig.data.body('target').xpos.tolist() == [1, 2, 3]
    read = state(shared_rig, 'target')
    assert read['kind'] == 'mocap' and read['quat'] == [0, 1, 0, 0]
    shared_rig.ask('set_entity_state', entity='target', linear=[0, 0, 0])
    request = {'entity': 'target', 'pos': [5, 5, 5], 'angular': [0, 0, 1]}
    assert shared_rig.code('set_entity_state', **request) == 'bad_value'
    assert state(shared_rig, 'target') == read
