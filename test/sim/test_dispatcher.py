# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Order of checks, sessions, encodings, and input that nobody should send."""

from dispatching import dispatch
from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import msgpack
import numpy as np
import pytest

from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import OPS


def answer(rig, frame):
    reply = codec.unpack(dispatch(rig.dispatcher, frame), 1 << 30)
    return reply.get('code', reply['op'])


def test_the_registry_refuses_strangers_and_doubles():
    registry = Registry()

    def step(*_):
        return {}

    def brew_coffee(*_):
        return {}

    registry.register(step)
    with pytest.raises(ValueError, match='twice'):
        registry.register(step)
    with pytest.raises(ValueError, match='op table'):
        registry.register(brew_coffee)


BAD = [
    ('step', {'n_steps': 'ten'}, 'bad_value'),
    ('step', {'n_steps': 1.5}, 'bad_value'),
    ('step', {'n_steps': 10**9}, 'bad_value'),
    ('step', {'per_articulation': []}, 'bad_value'),
    ('step', {'per_articulation': {'nobody': {}}}, 'unknown_articulation'),
    ('step', {'per_articulation': {'rover': {'ctrl': [float('nan'), 0]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [float('inf')]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': ['1', 2]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [True, 2]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [[1, 2]]}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl': [0.0] * (2**16 + 1)}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'ctrl_map': {'third_wheel': 1}}}}, 'bad_value'),
    ('step', {'per_articulation': {'rover': {'xfrc_applied': {'moon': [0] * 6}}}}, 'unknown_body'),
    (
        'step',
        {'per_articulation': {'rover': {'xfrc_applied': {'base_link': [0] * 5}}}},
        'dim_mismatch',
    ),
    ('step', {'observations': 'everything'}, 'bad_value'),
    ('reset', {'keyframe_name': 'nowhere'}, 'unknown_keyframe'),
    ('reset', {'per_articulation_qpos': {'rover': {'knee': 1}}}, 'bad_value'),
    ('reset', {'per_articulation_qpos': {'rover': {'left_wheel': float('nan')}}}, 'bad_value'),
    ('reset', {'per_articulation_qpos': {'nobody': {}}}, 'unknown_articulation'),
    ('set_mode', {}, 'missing_field'),
    ('set_mode', {'mode': 'automatic'}, 'bad_mode'),
    ('set_mode', {'mode': 7}, 'bad_mode'),
    ('set_paused', {'paused': 'yes'}, 'bad_value'),
    ('set_sim_speed', {'percent': float('nan')}, 'bad_value'),
    ('set_control_source', {}, 'missing_field'),
    ('set_control_source', {'source': 'joystick'}, 'bad_value'),
    ('set_control_source', {'source': 'ui', 'articulation': 'x'}, 'unknown_articulation'),
    ('set_twist', {'articulation': 'x'}, 'unknown_articulation'),
    ('set_twist', {'articulation': 'rover', 'linear': [float('nan')]}, 'bad_value'),
    ('set_twist', {'articulation': 'rover', 'linear': 'fast'}, 'bad_value'),
    ('set_twist', {'articulation': 'rover', 'timeout': -1}, 'bad_value'),
    ('set_qpos', {'target': 'rover', 'qpos': [0.0] * 4}, 'dim_mismatch'),
    ('set_qpos', {'target': 'robot_9', 'qpos': [0.0] * 7}, 'unknown_articulation'),
    ('set_qpos', {'target': 'rover', 'qpos': [0.0] * 7}, 'bad_value'),
    ('set_mocap_pose', {'body': 'moon', 'pos': [0, 0, 0]}, 'unknown_body'),
    ('set_mocap_pose', {'body': 'pallet', 'pos': [0, 0, 0]}, 'not_mocap_body'),
    ('set_mocap_pose', {'body': 'target'}, 'missing_field'),
    ('set_mocap_pose', {'body': 'target', 'quat': [0, 0, 0, 0]}, 'bad_value'),
    ('read_mocap_pose', {'body': 'pallet'}, 'not_mocap_body'),
    ('get_contacts', {'filter': {'body1': 3}}, 'bad_value'),
    ('configure_controller', {'articulation': 'rover', 'params': {}}, 'no_controller'),
    ('configure_controller', {'articulation': 'x', 'params': {}}, 'unknown_articulation'),
    ('set_sim_options', {}, 'missing_field'),
    ('set_sim_options', {'options': {'integrator': 'magic'}}, 'bad_value'),
    ('set_sim_options', {'options': {'gravity': [0, 0]}}, 'bad_value'),
    ('set_sim_options', {'options': {'timestep': 0}}, 'bad_value'),
    ('set_sim_options', {'options': {'colour': 1}}, 'bad_value'),
]


def state(rig):
    return {
        name: np.array(getattr(rig.data, name))
        for name in ('qpos', 'qvel', 'ctrl', 'time', 'xfrc_applied', 'mocap_pos', 'mocap_quat')
    }


@pytest.mark.parametrize(('op', 'fields', 'code'), BAD)
def test_bad_input_is_refused_by_name_and_changes_nothing(shared_rig, op, fields, code):
    before = state(shared_rig)
    assert shared_rig.code(op, **fields) == code
    after = state(shared_rig)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_messages_name_the_value_and_list_the_valid_ones(shared_rig):
    for op, fields, words in (
        ('reset', {'keyframe_name': 'nowhere'}, ('nowhere', 'rover_home', 'rover_dock')),
        ('set_twist', {'articulation': 'go2'}, ('go2', 'rover')),
        ('set_mocap_pose', {'body': 'pallet', 'pos': [0, 0, 0]}, ('pallet', 'target')),
        ('set_mode', {'mode': 'warp'}, ('warp', 'live', 'direct', 'puppet')),
        ('set_sim_options', {'options': {'solver': 'abacus'}}, ('abacus', 'newton')),
    ):
        with pytest.raises(Exception) as caught:
            shared_rig.ask(op, **fields)
        for word in words:
            assert word in str(caught.value)


def test_frames_that_are_no_requests_get_bad_request(shared_rig):
    deep = b'\x91' * 100_000 + b'\xc0'
    for frame in (
        b'',
        b'\xc1',
        b'{',
        b'{"op": ',
        b'[1]',
        b'\x93\x01\x02\x03',
        b'\xdf\xff\xff\xff\xff',
        b'{"a":' * 5000,
        deep,
        msgpack.packb([{'op': 'step'}]),
        b'\x00' * 17_000_000,
    ):
        assert answer(shared_rig, frame) == 'bad_request'
    assert shared_rig.ask('list_keyframes')


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=6)
            | st.sampled_from(
                ['rover', 'ctrl', 'ctrl_map', 'xfrc_applied', 'left_wheel', 'gravity', 'timestep']
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
FIELD_NAMES = sorted({name for op in OPS.values() for name in (*op.required, *op.optional)})


@settings(max_examples=examples(500), deadline=None)
@given(
    op=st.sampled_from(sorted(OPS)) | st.text(max_size=10),
    fields=st.dictionaries(st.sampled_from(FIELD_NAMES), ODD, max_size=5),
)
def test_any_request_gets_a_reply_and_never_an_internal_error(shared_rig, op, fields):
    if isinstance(fields.get('n_steps'), (int, float)):
        fields['n_steps'] = 2
    # Whatever survived is undone, so that a later example finds a live model.
    shared_rig.ask('set_mode', mode='direct')
    reply = codec.unpack(
        dispatch(
            shared_rig.dispatcher,
            codec.pack({**fields, 'op': op, 'session_id': shared_rig.session_id}),
        ),
        1 << 30,
    )
    if reply['op'] == 'error':
        assert reply['code'] in ERROR_CODES and reply['code'] != 'internal_error', (op, fields)
    assert np.isfinite(shared_rig.data.qpos).all()


@settings(max_examples=examples(500), deadline=None)
@given(st.binary(max_size=64))
def test_any_bytes_get_a_reply(shared_rig, frame):
    assert answer(shared_rig, frame) in {*ERROR_CODES, 'hello_ok', 'meta_ok'}
