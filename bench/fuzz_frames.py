# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames for bench/fuzz.py: random bytes, requests with odd fields, and mutations of both."""

from __future__ import annotations

from collections.abc import Callable
import json
import random
import struct
from typing import Any

from hostile_frames import large
import msgpack

from urlab_ros_bridge.wire import control
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS

# How often an op is picked: a hello ships the whole model, editor ops are refused unread, and the
# fields of the others are where there is most to go wrong.
_WEIGHTS = {
    'hello': 0.05,
    'meta': 0.2,
    'recording_save': 0.3,
    'step': 6.0,
    'randomize': 3.0,
    'spawn_entity': 0.5,
    'delete_entity': 0.7,
}
_EDITOR_WEIGHT = 0.1
_EDITING = {'begin_pie': 0.2, 'stop_pie': 0.1, 'create_level': 0.5, 'spawn_actor': 3.0}
_NAMES = (
    'rover', 'quadruped', 'left_wheel', 'rover_left_wheel', 'pallet', 'target', 'home', 'live',
    'direct', 'puppet', 'zmq', 'ui', 'pd', 'euler', 'newton', 'x', '', '*', '../../etc/passwd',
    '/etc/passwd', 'a' * 300, 'a' * 100_000,
    '\x00', 'ü', '\u202e', 'kp', 'scale', 'value', 'json', 'full',
)  # fmt: skip
_NUMBERS = (
    0, 1, -1, 2, 3, 7, 0.5, -0.5, 1e-9, 1e9, -1e9, 1e10, 1.1e10, 1e300, -1e300, 5e-324,
    float('nan'), float('inf'), float('-inf'), 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63),
    2**64 - 1, True, False,
)  # fmt: skip
_KEYS = (
    'kp', 'kv', 'torque_limit', 'default_kp', 'timestep', 'gravity', 'integrator', 'solver',
    'iterations', 'rover', 'quadruped', 'ctrl', 'ctrl_map', 'xfrc_applied', 'control_mode', 'mass',
    'friction', 'color', 'light_position', 'scale', 'offset', 'value', 'bodies', 'geoms',
    'articulation', 'together', 'distribution', 'body1', 'geom2', 'left_wheel', 'op',
    'data_base64',
)  # fmt: skip
_MODELS = (
    '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>',
    '<mujoco><worldbody><geom size="0.1"/></worldbody></mujoco>',
    '<robot name="r"><link name="a"><collision><geometry><sphere radius="1"/></geometry>'
    '</collision></link></robot>',
    '<mujoco/>',
    '<robot',
    # What must be refused at once: files elsewhere, and work without end.
    '<mujoco><include file="/etc/passwd"/></mujoco>',
    '<mujoco><Include file="/dev/zero"/></mujoco>',
    '<mujoco><asset><model name="m" file="/etc/passwd"/></asset></mujoco>',
    '<mujoco><asset><mesh name="m" file="/dev/zero"/></asset></mujoco>',
    '<mujoco><worldbody><body name="b"><flexcomp name="f" type="mesh" file="/proc/self/mem"/>'
    '</body></worldbody></mujoco>',
    '<mujoco><worldbody><replicate count="2000000000"><geom size="1"/></replicate></worldbody>'
    '</mujoco>',
    '<mujoco><worldbody><body name="b"><flexcomp name="f" type="grid" count="999 999 999"/></body>'
    '</worldbody></mujoco>',
    '<mujoco><asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset></mujoco>',
    '<mujoco><size nuserdata="2000000000" memory="999G"/></mujoco>',
    # What would set the running world back, hold a step, or fill memory with pixels.
    '<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="1e308"/></body></worldbody>'
    '</mujoco>',
    '<mujoco><worldbody><body pos="nan 0 0"><freejoint/><geom size="0.1"/></body></worldbody>'
    '</mujoco>',
    '<mujoco><worldbody><body><freejoint/><geom size="1e10"/></body></worldbody></mujoco>',
    '<mujoco><option timestep="0"/><worldbody><body><geom size="0.1"/></body></worldbody>'
    '</mujoco>',
    '<mujoco><worldbody><camera name="c" resolution="8192 8192"/></worldbody></mujoco>',
    '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>',
    '<mujoco>' + '<default>' * 5000,
    '<robot name="r"><link name="a"><visual><geometry><mesh filename="package://../etc/passwd"/>'
    '</geometry></visual></link></robot>',
)
_ACTORS = ('r1', 'r2', 'b1', 'b2', 'lamp')
_BOMBS = (
    b'\xdd\xff\xff\xff\xff',
    b'\xdf\xff\xff\xff\xff',
    b'\xc6\xff\xff\xff\xff',
    b'\xdb\xff\xff\xff\xffa',
    b'\x91' * 5000,
    b'\x81\xa1a' * 3000,
    b'{"a":' * 5000,
    b'[' * 20000,
    b'{"op":"step","n_steps":' + b'9' * 5000 + b'}',
    b'{"op":"\\ud800"}',
    b'{"op":"hello","encoding":NaN}',
    b'\xc7\x00\x01',
    b'\xd4\xff\x00',
    b'',
)
# Bytes of frames that cost more than they should; the last size goes to the frame reader.
_HOSTILE_SIZES = (900, 9_000, 70_000)


class Fuzz:
    """A seeded source of frames; the same seed gives the same frames."""

    def __init__(self, seed: int, editing: bool = False) -> None:
        self.random = random.Random(seed)
        self.ops = [*OPS, 'hello', 'meta']
        self.hostile = 0
        self._attacks = [frame for size in _HOSTILE_SIZES for _, frame in large(size)]
        self._weights = [_weight(name, editing) for name in self.ops]

    def value(self, depth: int = 0) -> Any:
        """Return a value of any type that msgpack knows."""
        pick = self.random.randrange(12 if depth < 4 else 8)
        if pick < 3:
            return self.random.choice(_NUMBERS)
        if pick == 3:
            return self.random.uniform(-3, 3)
        if pick < 6:
            return self.random.choice(_NAMES)
        if pick == 6:
            return None
        if pick == 7:
            return self.random.randbytes(self.random.randrange(9))
        if pick < 10:
            size = self.random.choice((0, 1, 2, 3, 6, 7, 9, 14, 40))
            return [self.random.uniform(-2, 2) for _ in range(size)]
        if pick == 10:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {
            self.random.choice(_KEYS): self.value(depth + 1)
            for _ in range(self.random.randrange(4))
        }

    def request(self, session_id: str) -> dict[str, Any]:
        """Return a request for some op, most of whose fields are of a likely kind."""
        name = self.random.choices(self.ops, self._weights)[0]
        message: dict[str, Any] = {'op': name, 'session_id': session_id}
        known = OPS.get(name)
        fields = (*known.required, *known.optional) if known else ('encoding', 'shared')
        needed = known.required if known else ()
        for field in fields:
            if self.random.random() < (0.9 if field in needed else 0.3):
                message[field] = self._field(field)
        if self.random.random() < 0.1:
            message[self.random.choice(_KEYS)] = self.value()
        if name == 'hello':
            message['shared'] = True
        return message

    def _field(self, field: str) -> Any:
        """Return a value for a field: sometimes a likely one, so that checks are passed."""
        if field == 'n_steps':
            return self.random.choice((1, 2, 5, -1, 0, 10**9, None, 'x', 1.5))
        likely = _LIKELY.get(field)
        if likely is not None and self.random.random() < 0.85:
            return likely(self.random)
        return self.value()

    def frame(self, session_id: str) -> bytes:
        """Return the bytes of one request, or of something that looks a bit like one."""
        pick = self.random.random()
        if pick < 0.08:
            return self.random.randbytes(self.random.randrange(1, 200))
        if pick < 0.1:
            return self.random.choice(_BOMBS)
        if pick < 0.12:
            self.hostile += 1
            return self.random.choice(self._attacks)
        message = self.request(session_id)
        frame = self._encode(message)
        return self.mutate(frame) if pick < 0.4 else frame

    def _encode(self, message: dict[str, Any]) -> bytes:
        if self.random.random() < 0.2:
            return json.dumps(message, default=lambda data: data.hex()).encode()
        return msgpack.packb(message)

    def mutate(self, frame: bytes) -> bytes:
        """Flip, cut, repeat, insert or drop bytes."""
        data = bytearray(frame)
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 8))):
            place = self.random.randrange(len(data) + 1)
            length = self.random.choice((1, 1, 2, 4, 16))
            kind = self.random.randrange(5)
            if kind == 0 and place < len(data):
                data[place] ^= 1 << self.random.randrange(8)
            elif kind == 1:
                del data[place:]
            elif kind == 2:
                data[place:place] = self.random.randbytes(length)
            elif kind == 3:
                del data[place : place + length]
            else:
                data[place:place] = data[place : place + length]
        return bytes(data)

    def control(self, prefix: str, actuators: int) -> list[bytes]:
        """Return a message for the control stream, most of them for `prefix`."""
        kind = self.random.choice(control.KINDS)
        topic = control.control_topic(kind, prefix)
        if kind == control.CONTROL:
            count = self.random.randrange(5)
            ids = [self.random.choice((*range(actuators), -1, 999)) for _ in range(count)]
            payload = struct.pack('<i', count) + b''.join(
                struct.pack('<if', index, self.random.uniform(-2, 2)) for index in ids
            )
        else:
            payload = json.dumps({'x': {'kp': self.random.choice(_NUMBERS)}}).encode()
        if self.random.random() < 0.6:
            payload = self.mutate(payload)
        if self.random.random() < 0.1:
            topic += self.random.randbytes(3)
        return [topic, payload, *([b'more'] if self.random.random() < 0.05 else [])]


def _weight(name: str, editing: bool) -> float:
    if name in OPS and OPS[name].category == EDITOR_ONLY:
        return _EDITING.get(name, 1.0) if editing else _EDITOR_WEIGHT
    return _WEIGHTS.get(name, 1.0)


_LIKELY: dict[str, Callable[[random.Random], Any]] = {
    'articulation': lambda r: r.choice(('rover', 'quadruped')),
    'target': lambda r: r.choice(('rover', 'quadruped', *_ACTORS)),
    'actor_id': lambda r: r.choice(_ACTORS),
    'new_actor_id': lambda r: r.choice(_ACTORS),
    'base_actor_id': lambda r: r.choice(_ACTORS),
    'blueprint': lambda r: r.choice(('rover', 'box', 'sphere', 'cylinder', 'plane')),
    'kind': lambda r: r.choice(('point', 'directional', 'spot')),
    'name': lambda r: r.choice(('lab', 'hall', 'x')),
    'level_path': lambda r: r.choice(('lab', 'hall', 'x')),
    'count_x': lambda r: r.choice((1, 2, 10**9)),
    'count_y': lambda r: r.choice((1, 3)),
    'location': lambda r: [r.uniform(-3, 3) for _ in range(3)],
    'rotation_quat': lambda r: [0.0, 0.0, 0.0, 1.0],
    'color': lambda r: [r.uniform(0, 1) for _ in range(3)],
    'from': lambda r: [0.0, 0.0, 1.0],
    'to': lambda r: [1.0, 0.0, 1.0],
    'center': lambda r: [0.0, 0.0, 1.0],
    'half_extents': lambda r: [0.1, 0.1, 0.1],
    'text': lambda r: 'hello',
    'timeout_s': lambda r: r.choice((5, 30)),
    'xml': lambda r: r.choice(_MODELS),
    'file': lambda r: r.choice(('rover.yaml', 'rover_robot.xml', 'x.xml', '/dev/zero')),
    'entity': lambda r: r.choice(('lab', 'hall', 'x', 'pallet', 'target')),
    'body': lambda r: r.choice(('target', 'pallet', 'rover_base_link')),
    'mode': lambda r: r.choice(('live', 'direct', 'puppet')),
    'observations': lambda r: r.choice(('minimal', 'standard', 'full')),
    'encoding': lambda r: r.choice(('json', 'msgpack')),
    'paused': lambda r: False,
    'pos': lambda r: [r.uniform(-1, 1) for _ in range(3)],
    'quat': lambda r: [1.0, 0.0, 0.0, 0.0],
    'linear': lambda r: [r.uniform(-1, 1) for _ in range(3)],
    'angular': lambda r: [0.0, 0.0, r.uniform(-1, 1)],
    'per_articulation': lambda r: {
        r.choice(('rover', 'quadruped')): {
            'ctrl': [r.uniform(-2, 2) for _ in range(r.choice((0, 1, 2, 12)))],
            'xfrc_applied': {r.choice(('base_link', 'x')): [0.0] * r.choice((6, 5))},
            'control_mode': r.choice(('raw', 'ue_controller', 3)),
        }
    },
    'items': lambda r: {
        r.choice(('mass', 'friction', 'color', 'damping', 'gravity')): {
            r.choice(('scale', 'offset', 'value')): [r.uniform(0.1, 1), r.uniform(1, 2)],
            r.choice(('bodies', 'geoms', 'together')): r.choice(('*', 'rover_*', 'nobody', True)),
        }
    },
    'options': lambda r: {r.choice(('timestep', 'gravity', 'iterations')): r.choice((0.002, 20))},
    'params': lambda r: {r.choice(('kp', 'default_kp', 'default_kv')): r.choice((50.0, {}))},
    'path': lambda r: r.choice(('run.json', 'live', 'other.json', 'robot.xml')),
}
