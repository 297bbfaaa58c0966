# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset and forward, and the keyframes that reset loads."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'reset'
MOST = 5  # keyframes that are tried


def keyframes(peer: Peer) -> list[dict[str, Any]]:
    """Return the server's keyframes."""
    found = field(peer.call('list_keyframes'), 'keyframes', 'array')
    if not found:
        raise skip('the model has no keyframes')
    return found


def hinge(peer: Peer) -> tuple[str, Any]:
    """Return the prefix and a hinge or slide joint of an articulation."""
    robot, _ = peer.robot(
        lambda robot, _: any(joint.kind > 1 for joint in robot.joints), 'with a hinge or slide'
    )
    return robot.prefix, [joint for joint in robot.joints if joint.kind > 1][-1]


def same_state(what: str, reply: dict, peer: Peer, qpos: Any, qvel: Any = None) -> None:
    """Demand that a reply's state is a vector in the order of the model."""
    for prefix, robot in peer.model.robots.items():
        block = reply['per_articulation'][prefix]
        expected = [float(qpos[slot]) for slot in robot.qpos]
        close(f'{what}: qpos of {prefix}', block['qpos'], expected, 1e-6)
        if qvel is not None:
            expected = [float(qvel[slot]) for slot in robot.qvel]
            close(f'{what}: qvel of {prefix}', block['qvel'], expected, 1e-6)


@check('reset.default', PROTOCOL, SECTION, 'the server calls mj_resetData', modes=STEPPED)
def default(peer: Peer) -> None:
    """
    reset without keyframe is the model's default state, at rest, at time 0.

    With the extension start_keyframe it is the state that hello tells as start_qpos, if it does.
    """
    peer.call('step', n_steps=20, time=3.0)
    reply = peer.call('reset')
    close('time', field(reply, 'time', 'number'), 0.0, 1e-12)
    same_state('reset', reply, peer, peer.model.start, [0.0] * peer.model.mj.nv)


@check('reset.step_counter', PLUGIN, 'reset', modes=DIRECT)
def step_counter(peer: Peer) -> None:
    """step begins at 0 again."""
    peer.call('step', n_steps=20)
    equal('step', peer.call('reset')['step'], 0)
    equal('step after 2 steps', peer.call('step', n_steps=2)['step'], 2)


@check(
    'reset.shape', PROTOCOL, SECTION, 'the same shape as step_ok', modes=STEPPED,
    stock='reset_ok and forward_ok have no entities',
)  # fmt: skip
def shape(peer: Peer) -> None:
    """reset_ok and forward_ok have the fields of step_ok, and the same blocks below."""
    step = peer.call('step')
    for op in ('reset', 'forward'):
        reply = peer.call(op)
        equal(f'fields of {op}_ok', sorted(reply), sorted(step))
        for prefix, block in step['per_articulation'].items():
            got = field(reply, f'per_articulation/{prefix}', 'object')
            equal(f'blocks of {prefix}', sorted(got), sorted(block))


@check(
    'reset.keyframe', PROTOCOL, SECTION, 'applied with mj_resetDataKeyframe', modes=STEPPED,
)  # fmt: skip
def keyframe(peer: Peer) -> None:
    """keyframe_name loads time, qpos and qvel of that keyframe."""
    tried = 0
    for entry in keyframes(peer)[:MOST]:
        if not entry['name']:
            continue
        tried += 1
        reply = peer.call('reset', keyframe_name=entry['name'])
        close(f'time of {entry["name"]}', reply['time'], entry['time'], 1e-9)
        same_state(entry['name'], reply, peer, entry['qpos'], entry['qvel'])
    if not tried:
        raise skip('no keyframe has a name')


@check(
    'reset.unknown_keyframe', PROTOCOL, SECTION, 'An unknown name returns unknown_keyframe',
    modes=DIRECT,
)  # fmt: skip
def unknown_keyframe(peer: Peer) -> None:
    """An unknown keyframe is refused, and nothing is reset."""
    before = peer.call('step', n_steps=8)['time']
    peer.refused('unknown_keyframe', 'reset', keyframe_name='no_such_keyframe')
    close('time afterwards', peer.call('forward')['time'], before, 1e-12)


@check(
    'reset.per_articulation_qpos', PROTOCOL, SECTION, 'overrides specific joints by name',
    modes=STEPPED,
)  # fmt: skip
def overrides(peer: Peer) -> None:
    """per_articulation_qpos sets joints by local name, on top of the default or a keyframe."""
    prefix, joint = hinge(peer)
    request = {'per_articulation_qpos': {prefix: {joint.name: 0.123}}}
    cases: list[tuple[dict[str, Any], Any]] = [({}, peer.model.start)]
    named = [k for k in peer.call('list_keyframes').get('keyframes', []) if k.get('name')]
    cases += [({'keyframe_name': k['name']}, k['qpos']) for k in named[:1]]
    for more, base in cases:
        expected = list(base)
        expected[joint.q] = 0.123
        same_state('reset', peer.call('reset', **request, **more), peer, expected)


@check('reset.seed', PROTOCOL, SECTION, 'for reproducibility bookkeeping', modes=STEPPED)
def seed(peer: Peer) -> None:
    """seed is accepted and changes nothing of the state."""
    plain, seeded = peer.call('reset'), peer.call('reset', seed=42)
    for prefix, block in plain['per_articulation'].items():
        equal(f'qpos of {prefix}', seeded['per_articulation'][prefix]['qpos'], block['qpos'])


@check('reset.forward', PROTOCOL, SECTION, 'then runs mj_forward once', modes=STEPPED)
def runs_forward(peer: Peer) -> None:
    """The reply of a reset has derived state that fits its qpos: body poses of MuJoCo."""
    peer.hello(observations='full')
    prefix, joint = hinge(peer)
    reply = peer.call('reset', per_articulation_qpos={prefix: {joint.name: 0.4}})
    qpos = list(peer.model.start)
    qpos[joint.q] = 0.4
    data, robot = peer.model.settled(qpos), peer.model.robots[prefix]
    for name, number in robot.bodies.items():
        pose = field(reply, f'per_articulation/{prefix}/bodies/{name}', 'object')
        close(f'xpos of {name}', pose['xpos'], data.xpos[number].tolist(), 1e-5)


@check('forward.time', PROTOCOL, 'forward', 'without advancing time', modes=STEPPED)
def forward_time(peer: Peer) -> None:
    """forward changes neither time nor step nor qpos."""
    before = peer.call('step', n_steps=5, time=0.01)
    after = peer.call('forward')
    close('time', field(after, 'time', 'number'), before['time'], 1e-12)
    equal('step', field(after, 'step', 'integer'), before['step'])
    for prefix, block in before['per_articulation'].items():
        equal(f'qpos of {prefix}', after['per_articulation'][prefix]['qpos'], block['qpos'])


@check('forward.derives', PROTOCOL, 'forward', 'read consistent derived state', modes=STEPPED)
def derives(peer: Peer) -> None:
    """After set_qpos, forward reports body poses that fit the new qpos."""
    peer.hello(observations='full')
    prefix, joint = hinge(peer)
    robot = peer.model.robots[prefix]
    block = next(b for b in peer.blocks if b['prefix'] == prefix)
    values = [float(peer.model.mj.qpos0[slot]) for slot in robot.qpos]
    values[robot.qpos.index(joint.q)] = -0.3
    target = {'target': block['actor_id']} if block['actor_id'] else {
        'target': prefix, 'target_by': 'actor_name'}  # fmt: skip
    peer.call('set_qpos', qpos=values, **target)
    reply = peer.call('forward')
    qpos = list(peer.model.mj.qpos0)
    for slot, value in zip(robot.qpos, values, strict=True):
        qpos[slot] = value
    data = peer.model.settled(qpos)
    for name, number in robot.bodies.items():
        pose = field(reply, f'per_articulation/{prefix}/bodies/{name}', 'object')
        close(f'xpos of {name}', pose['xpos'], data.xpos[number].tolist(), 1e-5)


@check('keyframes.fields', PROTOCOL, 'list_keyframes', 'in compiled order')
def keyframe_fields(peer: Peer) -> None:
    """A keyframe has name, time and vectors of nq, nv, nu, 3 and 4 nmocap numbers."""
    mj = peer.model.mj
    entries = keyframes(peer)
    equal('keyframes', len(entries), mj.nkey)
    for entry in entries:
        field(entry, 'name', 'string')
        field(entry, 'time', 'number')
        for name, size in (
            ('qpos', mj.nq),
            ('qvel', mj.nv),
            ('ctrl', mj.nu),
            ('mocap_pos', 3 * mj.nmocap),
            ('mocap_quat', 4 * mj.nmocap),
        ):
            field(entry, name, 'vector', size)


@check('keyframes.values', PROTOCOL, 'list_keyframes', 'compiled into the model')
def keyframe_values(peer: Peer) -> None:
    """Names and numbers are those of the compiled model."""
    mj = peer.model.mj
    for index, entry in enumerate(keyframes(peer)):
        equal('name', entry['name'], peer.model.name('key', index))
        close('time', entry['time'], float(mj.key_time[index]), 1e-9)
        for name, values in (
            ('qpos', mj.key_qpos),
            ('qvel', mj.key_qvel),
            ('ctrl', mj.key_ctrl),
            ('mocap_pos', mj.key_mpos),
            ('mocap_quat', mj.key_mquat),
        ):
            expected = [float(value) for value in values[index].ravel()]
            close(f'{name} of {entry["name"]}', entry[name], expected, 1e-6)
    expect(mj.nkey > 0, 'keyframes', mj.nkey)
