# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing the state of what stands in the world."""

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
ENDS = ('min', 'max')
STRIDE = np.array([1.0, 2.0, 3.0])
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
def test_what_is_written_is_where_mujoco_has_it(shared_rig, name, pos, quat, linear, angular):
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


def test_everything_is_listed_once(shared_rig):
    listed = shared_rig.ask('get_entities')['entities']
    kinds = {item['name']: item['kind'] for item in listed}
    assert len(kinds) == len(listed)
    known = {'rover': 'articulation', 'pallet': 'entity', 'target': 'mocap', 'shelf': 'static'}
    assert known.items() <= kinds.items()
    assert {item['name'] for item in listed if item['movable']} == {'rover', 'pallet', 'target'}
    assert not any('bounds' in item for item in listed)


def test_bounds_hold_every_vertex_and_move_along(shared_rig):
    shared_rig.ask('reset')
    low, high = (np.array(state(shared_rig, 'pallet', bounds=True)['bounds'][k]) for k in ENDS)
    body = shared_rig.model.body('pallet')
    for geom in range(shared_rig.model.ngeom):
        if shared_rig.model.geom_bodyid[geom] == body.id:
            centre = shared_rig.data.geom_xpos[geom]
            assert (low <= centre).all() and (centre <= high).all()
    start = np.array(state(shared_rig, 'pallet')['pos'])
    shared_rig.ask('set_entity_state', entity='pallet', pos=(start + STRIDE).tolist())
    moved = state(shared_rig, 'pallet', bounds=True)['bounds']
    assert moved['min'] == pytest.approx(low + STRIDE)
    assert moved['max'] == pytest.approx(high + STRIDE)
    shared_rig.ask('reset')


def test_bounds_of_the_body_turn_with_it(shared_rig):
    shared_rig.ask('reset')
    upright = state(shared_rig, 'pallet', bounds=True)
    quat = [0.5, 0.1, -0.7, 0.5]
    shared_rig.ask('set_entity_state', entity='pallet', pos=[1, 2, 3], quat=quat)
    turned = state(shared_rig, 'pallet', bounds=True)
    for key in ENDS:
        assert turned['body_bounds'][key] == pytest.approx(upright['body_bounds'][key])
        own = np.array(upright['bounds'][key]) - upright['pos']
        assert upright['body_bounds'][key] == pytest.approx(own.tolist())
    # Along the world's axes what lies askew takes more room.
    room = [
        np.subtract(*(each['bounds'][key] for key in reversed(ENDS))) for each in (upright, turned)
    ]
    assert np.prod(room[1]) > np.prod(room[0])
    shared_rig.ask('reset')


def test_bad_requests_change_nothing(shared_rig):
    shared_rig.ask('reset')
    before = shared_rig.data.qpos.copy(), shared_rig.data.qvel.copy()
    for fields, code in (
        ({'entity': 'palet', 'pos': [0, 0, 1]}, 'unknown_body'),
        ({'entity': ['pallet'], 'pos': [0, 0, 1]}, 'bad_value'),
        ({'entity': 'pallet'}, 'missing_field'),
        ({'pos': [0, 0, 1]}, 'missing_field'),
        ({'entity': 'pallet', 'pos': [0, 0]}, 'bad_value'),
        ({'entity': 'pallet', 'pos': [0, 0, 9], 'quat': [0, 0, 0, 0]}, 'bad_value'),
        ({'entity': 'pallet', 'pos': [0, 0, 9], 'linear': [0, 0, float('nan')]}, 'bad_value'),
    ):
        assert shared_rig.code('set_entity_state', **fields) == code
    assert shared_rig.code('get_entities', entities='pallet') == 'bad_value'
    assert shared_rig.code('get_entities', entities=['pallet', 'no']) == 'unknown_body'
    assert (shared_rig.data.qpos == before[0]).all() and (shared_rig.data.qvel == before[1]).all()


def test_what_is_fixed_is_listed_and_cannot_be_moved(rig, mjcf):
    path = mjcf("""<mujoco><worldbody>
      <body name="shelf" pos="1 0 0"><geom size="0.1"/></body>
      <body name="door"><joint axis="0 0 1"/><geom size="0.1" pos="1 0 0"/>
        <body name="knob" pos="1 0 0"><joint axis="1 0 0"/><geom size="0.02"/></body></body>
      </worldbody></mujoco>""")
    world = rig(model=str(path), prefix='house')
    world.data.qvel[:] = (2.0, 0.0)
    world.ask('forward')
    kinds = {item['name']: item['kind'] for item in world.ask('get_entities')['entities']}
    assert kinds['house'] == 'articulation'
    for name in kinds:
        assert world.code('set_entity_state', entity=name, pos=[0, 0, 1]) == 'bad_value'
