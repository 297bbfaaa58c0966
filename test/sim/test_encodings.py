# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""JSON and msgpack say the same, each to its own session; levels hold for one reply or session."""

import base64
import json

from dispatching import dispatch
import numpy as np
import pytest

from urlab_ros_bridge.wire.encoding import codec

MOVING = {'session_id', 'run', 'wall_time', 'sessions', 'real_time_factor', 'tick_rate'}
ASKED = (
    ('step', {'n_steps': 2, 'observations': 'minimal'}),
    ('step', {'observations': 'standard'}),
    ('step', {'observations': 'full'}),
    ('step', {'per_articulation': {'rover': {'ctrl': [1.5, 2.5]}}}),
    ('reset', {'per_articulation_qpos': {'rover': {'left_wheel': 0.25}}}),
    ('forward', {}),
    ('set_twist', {'linear': [0.5], 'angular': [0, 0, 0.25]}),
    ('list_keyframes', {}),
    ('get_contacts', {}),
    ('read_mocap_pose', {'body': 'target'}),
    ('set_sim_options', {'options': {}}),
    ('status', {}),
    ('meta', {}),
    ('hello', {'include_assets': True, 'shared': True}),
    ('recording_start', {}),
    ('recording_stop', {}),
    ('replay_list_sessions', {}),
    ('nonsense', {}),
    ('set_paused', {}),
    ('set_mode', {'mode': 'sideways'}),
)


def still(value):
    """Return a reply without what differs from call to call."""
    if isinstance(value, dict):
        return {key: still(item) for key, item in value.items() if key not in MOVING}
    return value


class Session:
    """A session that looks at the bytes of its replies."""

    def __init__(self, made, encoding, request_encoding='msgpack'):
        self.dispatcher, self.request_encoding = made.dispatcher, request_encoding
        self.encoding = encoding
        self.id = None
        self.id = self.ask('hello', shared=True, encoding=encoding)['session_id']

    def ask(self, op, **fields):
        request = {'op': op, 'session_id': self.id, **fields}
        if op == 'hello':
            request['encoding'] = self.encoding
        frame = dispatch(self.dispatcher, codec.pack(request, self.request_encoding))
        assert (frame[:1] == b'{') is (self.encoding == 'json'), (op, frame[:40])
        return codec.unpack(frame, 1 << 30)


@pytest.fixture
def pairs(rig):
    """Return four sessions on two equal worlds: replies in both encodings, requests too."""
    worlds = [rig() for _ in range(4)]
    made = []
    kinds = [(a, b) for a in ('msgpack', 'json') for b in ('msgpack', 'json')]
    for world, (reply, request) in zip(worlds, kinds, strict=True):
        world.ask('set_mode', mode='direct')
        made.append(Session(world, reply, request))
    return made


def test_all_encodings_say_the_same(pairs):
    for op, fields in ASKED:
        replies = [still(session.ask(op, **fields)) for session in pairs]
        assert all(reply == replies[0] for reply in replies), op


def test_sessions_of_different_encodings_live_side_by_side(rig):
    made = rig()
    json_one, packed = Session(made, 'json'), Session(made, 'msgpack')
    for _ in range(3):
        for session in (json_one, packed):
            assert session.ask('forward')['op'] == 'forward_ok'
            assert session.ask('nonsense')['op'] == 'error'
    # A plain hello, which a stock server would answer by resetting the encoding, is its own.
    assert dispatch(made.dispatcher, codec.pack({'op': 'hello'}))[:1] != b'{'
    assert json_one.ask('status')['op'] == 'status_ok'


@pytest.mark.parametrize('word', ['json', 'JSON', 'Json'])
def test_the_hello_that_asks_for_json_is_answered_in_it(rig, word):
    frame = dispatch(rig().dispatcher, codec.pack({'op': 'hello', 'encoding': word}))
    reply = json.loads(frame)
    assert 'mjb' not in reply and len(base64.b64decode(reply['mjb_base64'])) == reply['mjb_size']


@pytest.mark.parametrize('word', ['msgpack', 'xml', '', None])
def test_any_other_encoding_is_msgpack(rig, word):
    frame = dispatch(rig().dispatcher, codec.pack({'op': 'hello', 'encoding': word}, 'json'))
    assert frame[:1] != b'{' and codec.unpack(frame, 1 << 30)['mjb']


def test_numbers_that_json_does_not_have_are_null(rig):
    made = rig()
    session, packed = Session(made, 'json'), Session(made, 'msgpack')
    made.data.sensordata[0] = np.nan
    name = next(iter(made.context.world.articulations['rover'].sensors))
    for one, expected in ((session, None), (packed, pytest.approx(np.nan, nan_ok=True))):
        sensors = one.ask('step')['per_articulation']['rover']['sensors']
        assert sensors[name][0] == expected


MINIMAL = {'qpos', 'qvel'}
STANDARD = MINIMAL | {'ctrl', 'act', 'sensors'}
FULL = STANDARD | {'bodies', 'actuator_force'}
TWIST = {'twist', 'actions'}
TOP = {'op', 'time', 'step', 'frame_id', 'sim_time', 'wall_time', 'per_articulation', 'entities'}


@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
@pytest.mark.parametrize(('world', 'extra'), [('rover', TWIST), ('robots', TWIST)])
def test_levels_have_the_fields_of_the_page(rig, mjcf, encoding, world, extra):
    joint = '<body name="b"><joint name="j"/><geom size="0.1"/></body>'
    motor = '<actuator><motor name="m" joint="j"/></actuator>'
    text = f'<mujoco model="robots"><worldbody>{joint}</worldbody>{motor}</mujoco>'
    made = rig() if world == 'rover' else rig(model=mjcf(text))
    made.ask('set_mode', mode='direct')
    session = Session(made, encoding)
    expected = {'minimal': MINIMAL, 'standard': STANDARD | extra, 'full': FULL | extra}
    for level, keys in expected.items():
        for op in ('step', 'forward'):
            reply = session.ask(op, observations=level)
            (block,) = reply['per_articulation'].values()
            assert set(block) == keys and set(reply) == TOP, (op, level)
    # A level of one reply does not stick (Protocol Reference: "on hello and step").
    (block,) = session.ask('step')['per_articulation'].values()
    assert set(block) == expected['standard']
    (block,) = session.ask('reset')['per_articulation'].values()
    assert set(block) == expected['standard']


def test_a_level_of_the_hello_holds_for_reset_and_step(rig):
    made = rig()
    made.ask('set_mode', mode='direct')
    for level, keys in (('minimal', MINIMAL), ('full', FULL | TWIST)):
        caller = made.caller(shared=True, observations=level)
        for op in ('step', 'reset', 'forward'):
            assert set(caller.ask(op)['per_articulation']['rover']) == keys
    assert set(made.ask('step')['per_articulation']['rover']) == STANDARD | TWIST
    assert made.code('step', observations='everything') == 'bad_value'


def test_vectors_have_the_lengths_of_the_model(rig):
    made = rig(world='quadruped')
    made.ask('set_mode', mode='direct')
    block = made.ask('step', observations='full')['per_articulation']['quadruped']
    robot, data = made.context.world.articulations['quadruped'], made.data
    assert len(block['qpos']) == robot.nq and len(block['qvel']) == len(data.qvel[robot.qvel])
    assert len(block['ctrl']) == len(block['act']) == len(block['actuator_force']) == robot.nu
    assert set(block['bodies']) == set(robot.bodies)
    for pose in block['bodies'].values():
        assert len(pose['xpos']) == 3 and np.linalg.norm(pose['xquat']) == pytest.approx(1)
    assert {len(v) for v in block['sensors'].values()} <= {1, 3, 4}
