# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests that a server must survive, as strategies of hypothesis."""

import json

from hypothesis import strategies as st
import msgpack

from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.ops import OPS

SESSION = '00000000-0000-0000-0000-000000000000'  # to be replaced by that of the client
_BOX = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
MODELS = (
    _BOX, _BOX, _BOX,
    '<mujoco/>', '<robot', '<mujoco>' + '<default>' * 5000,
    '<robot name="r"><link name="a"><collision><geometry><sphere radius="1"/></geometry>'
    '</collision></link></robot>',
    # Files elsewhere, and work without end.
    '<mujoco><include file="/etc/passwd"/></mujoco>',
    '<mujoco><asset><mesh name="m" file="/dev/zero"/></asset></mujoco>',
    '<mujoco><worldbody><replicate count="2000000000"><geom size="1"/></replicate></worldbody>'
    '</mujoco>',
    '<mujoco><asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset></mujoco>',
    '<mujoco><size nuserdata="2000000000" memory="999G"/></mujoco>',
    # What would make the world unstable, hold a step, or fill memory with pixels.
    _BOX.replace('size', 'mass="1e308" size'), _BOX.replace('<body', '<body pos="nan 0 0"'),
    _BOX.replace('0.1', '1e10'), _BOX.replace('<world', '<option timestep="0"/><world', 1),
    '<mujoco><worldbody><camera name="c" resolution="8192 8192"/></worldbody></mujoco>',
    '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>',
)  # fmt: skip
_ROBOTS, _ACTORS, _LEVELS = ('rover', 'quadruped'), ('r1', 'r2', 'b1', 'b2'), ('lab', 'hall')
_TWIST = ([0.5, -0.2, 0.0], [0.0, 0.0, 1.0])
# Values of fields with which a request may well be accepted.
LIKELY = {
    'articulation': _ROBOTS, 'target': (*_ROBOTS, *_ACTORS), 'actor_id': _ACTORS,
    'new_actor_id': _ACTORS, 'base_actor_id': _ACTORS, 'blueprint': ('rover', 'box', 'sphere'),
    'kind': ('point', 'directional', 'spot'), 'name': _LEVELS, 'level_path': _LEVELS,
    'count_x': (1, 2, 10**9), 'count_y': (1, 3), 'location': _TWIST, 'linear': _TWIST,
    'angular': _TWIST, 'rotation_quat': ([0.0, 0.0, 0.0, 1.0],), 'color': ([0.5, 1.0, 0.0],),
    'from': _TWIST, 'to': _TWIST, 'center': _TWIST, 'half_extents': ([0.1, 0.1, 0.1],),
    'text': ('hello',), 'timeout_s': (5, 30), 'xml': MODELS,
    'file': ('rover.yaml', 'rover_robot.xml', 'x.xml', '/dev/zero'),
    'entity': (*_LEVELS, 'x', 'pallet', 'target'), 'body': ('target', 'pallet', 'rover_base_link'),
    'mode': ('live', 'direct', 'puppet'), 'observations': ('minimal', 'standard', 'full'),
    'encoding': ('json', 'msgpack'), 'paused': (False,), 'pos': _TWIST,
    'quat': ([1.0, 0.0, 0.0, 0.0],), 'n_steps': (1, 2, 5, -1, 0, 10**9, None, 'x', 1.5),
    'per_articulation': (
        {'rover': {'ctrl': [0.5, -0.5]}}, {'quadruped': {'ctrl': [0.1] * 12}},
        {'rover': {'ctrl': [], 'xfrc_applied': {'base_link': [0.0] * 6, 'x': [0.0] * 5}}},
        {'rover': {'control_mode': 'raw'}, 'quadruped': {'control_mode': 3}},
    ),
    'items': (
        {'mass': {'scale': [0.5, 1.5], 'bodies': '*'}}, {'friction': {'value': [1, 2]}},
        {'gravity': {'offset': [0.1, 0.2]}}, {'color': {'geoms': 'rover_*', 'together': True}},
    ),
    'options': ({'timestep': 0.002}, {'gravity': 20}, {'iterations': 20}),
    'params': ({'kp': 50.0}, {'default_kp': 50.0}, {'default_kv': {}}),
    'path': ('run.json', 'live', 'other.json', 'robot.xml'),
}  # fmt: skip
_NAMES = (
    'rover', 'rover_left_wheel', 'home', 'zmq', 'pd', 'kp', '', '*', '../../etc/passwd',
    '/etc/passwd', 'a' * 300, 'a' * 100_000, '\0', 'ü', '\u202e',
)  # fmt: skip
_KEYS = (
    'kp', 'torque_limit', 'timestep', 'solver', 'rover', 'ctrl', 'ctrl_map', 'xfrc_applied',
    'mass', 'value', 'bodies', 'distribution', 'body1', 'geom2', 'op', 'data_base64',
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats()
    | st.binary(max_size=9) | st.sampled_from(_NAMES) | st.lists(st.floats(-2, 2), max_size=14),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
# Frames that are no requests, or that cost more than they should.
BOMBS = (
    b'', b'\xdd\xff\xff\xff\xff', b'\xdf\xff\xff\xff\xff', b'\xc6\xff\xff\xff\xff', b'\x91' * 5000,
    b'\xdb\xff\xff\xff\xffa', b'\x81\xa1a' * 3000, b'{"a":' * 5000, b'[' * 20000, b'\xc7\x00\x01',
    b'{"op":"step","n_steps":' + b'9' * 5000 + b'}', b'{"op":"\\ud800"}', b'\xd4\xff\x00',
    b'{"op":"hello","encoding":NaN}', b'{"op":"x","a":[' + b'1e999,' * 9000 + b'0]}',
    b'\x82\xa2op\xa1x\xa1a\xdd\x00\x00\xff\xff' + b'\x80' * 0xFFFF,
)  # fmt: skip


@st.composite
def requests(draw, ops):
    """A request for one of some ops, with fields of which most are likely."""
    op = draw(st.sampled_from(ops))
    message = {'op': op, 'session_id': SESSION}
    if op == 'hello':
        message['shared'] = True
    known = OPS.get(op)
    fields = [*known.required, *known.optional] if known else ['encoding']
    for field in fields:
        if draw(st.integers(0, 9)) < (9 if known and field in known.required else 3):
            likely = st.sampled_from(LIKELY[field]) if field in LIKELY else VALUES
            message[field] = draw(likely if draw(st.integers(0, 9)) < 8 else VALUES)
    if draw(st.integers(0, 9)) == 9:
        message[draw(st.sampled_from(_KEYS))] = draw(VALUES)
    return message


@st.composite
def frames(draw, ops):
    """The bytes of a request, changed or not, or of something that is none."""
    if draw(st.integers(0, 9)) == 9:
        return draw(st.binary(max_size=200) | st.sampled_from(BOMBS))
    message = draw(requests(ops))
    if draw(st.integers(0, 4)) == 4:
        return json.dumps(message, default=bytes.hex).encode()
    try:
        frame = bytearray(pack(message))
    except Exception:  # values that our own clients refuse to send
        frame = bytearray(msgpack.packb(message))
    for _ in range(draw(st.sampled_from((0, 0, 0, 0, 0, 1, 2, 5)))):
        at = draw(st.integers(0, len(frame)))
        frame[at : at + draw(st.sampled_from((0, 1, 4, 1 << 20)))] = draw(st.binary(max_size=8))
    return bytes(frame)
