# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_qpos and mocap poses."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.model import Robot
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

MOCAP = 'set_mocap_pose / read_mocap_pose'


def target(block: dict[str, Any]) -> dict[str, str]:
    """Return the fields that name an articulation to set_qpos."""
    if block.get('actor_id'):
        return {'target': block['actor_id']}
    return {'target': block['prefix'], 'target_by': 'actor_name'}


def _state(peer: Peer, robot: Robot) -> dict[str, Any]:
    return peer.call('forward')['per_articulation'][robot.prefix]


@check('set_qpos.full', PROTOCOL, 'set_qpos', "match the articulation's total qpos dim",
       modes=STEPPED)  # fmt: skip
def full(peer: Peer) -> None:
    """A vector of the full dimension is written as it is, and echoed."""
    robot, block = peer.robot(lambda robot, _: robot.joints, 'with joints')
    values = [float(peer.model.mj.qpos0[slot]) + 0.02 for slot in robot.qpos]
    if robot.free_base:
        values[3:7] = [0.8, 0.2, 0.4, 0.4]
    before = _state(peer, robot)['qvel']
    reply = peer.call('set_qpos', qpos=values, **target(block))
    equal('target', reply.get('target'), target(block)['target'])
    close('qpos of the reply', field(reply, 'qpos', 'vector'), values, 1e-6)
    equal('free_base_shortcut', field(reply, 'free_base_shortcut', 'bool'), False)
    state = _state(peer, robot)
    close('qpos afterwards', state['qpos'], values, 1e-6)
    close('qvel afterwards', state['qvel'], before, 1e-9)


@check('set_qpos.free_base', PROTOCOL, 'set_qpos', 'writes just the free-joint slots',
       modes=STEPPED)  # fmt: skip
def free_base(peer: Peer) -> None:
    """Seven values for an articulation with a free base move the base only."""
    robot, block = peer.robot(
        lambda robot, _: robot.free_base and len(robot.qpos) > 7, 'with a free base and joints'
    )
    rest = _state(peer, robot)['qpos'][7:]
    pose = [0.3, -0.4, 1.2, 0.8, 0.2, 0.4, 0.4]
    reply = peer.call('set_qpos', qpos=pose, **target(block))
    equal('free_base_shortcut', field(reply, 'free_base_shortcut', 'bool'), True)
    close('qpos afterwards', _state(peer, robot)['qpos'], [*pose, *rest], 1e-6)


@check('set_qpos.by_actor_name', PROTOCOL, 'set_qpos', 'or by UE name with', modes=STEPPED)
def by_name(peer: Peer) -> None:
    """target_by actor_name resolves the prefix; without it only the actor id counts."""
    robot, block = peer.robot(
        lambda robot, block: robot.joints and block.get('actor_id') not in ('', robot.prefix),
        'with joints and an actor id of its own',
    )
    values = [float(peer.model.mj.qpos0[slot]) for slot in robot.qpos]
    named = {'target': robot.prefix, 'qpos': values}
    reply = peer.call('set_qpos', target_by='actor_name', **named)
    equal('actor_id', reply.get('actor_id'), block['actor_id'])
    peer.refused('unknown_articulation', 'set_qpos', **named)


@check('set_qpos.dim_mismatch', PROTOCOL, 'set_qpos', 'returns dim_mismatch', modes=STEPPED)
def dim_mismatch(peer: Peer) -> None:
    """Another length answers dim_mismatch and writes nothing."""
    robot, block = peer.robot(lambda robot, _: robot.joints, 'with joints')
    before = _state(peer, robot)['qpos']
    for size in (0, len(before) + 1, len(before) + 20):
        peer.refused('dim_mismatch', 'set_qpos', qpos=[0.5] * size, **target(block))
    equal('qpos afterwards', _state(peer, robot)['qpos'], before)


@check('set_qpos.no_joints', PROTOCOL, 'Errors', 'target articulation has no joints')
def no_joints(peer: Peer) -> None:
    """An articulation without joints answers no_joints."""
    _, block = peer.robot(lambda robot, _: not robot.joints, 'without joints')
    peer.refused('no_joints', 'set_qpos', qpos=[0.0], **target(block))


@check('set_qpos.unknown', PROTOCOL, 'Errors', 'named articulation does not resolve')
def unknown(peer: Peer) -> None:
    """An unknown target answers unknown_articulation, by id and by name."""
    for more in ({}, {'target_by': 'actor_name'}):
        request = {'target': 'no_such_robot', 'qpos': [0.0], **more}
        peer.refused('unknown_articulation', 'set_qpos', **request)


def mocap_body(peer: Peer) -> str:
    """Return the name of a mocap body."""
    mj = peer.model.mj
    for body in range(mj.nbody):
        if mj.body_mocapid[body] >= 0 and peer.model.name('body', body):
            return peer.model.name('body', body)
    raise skip('the model has no mocap body')


@check('mocap.round_trip', PROTOCOL, MOCAP, 'pos is MJ metres, quat is wxyz')
def round_trip(peer: Peer) -> None:
    """What set_mocap_pose writes, its reply and read_mocap_pose return."""
    body = mocap_body(peer)
    old = peer.call('read_mocap_pose', body=body)
    pose = {'pos': [0.11, -0.22, 0.93], 'quat': [0.8, 0.2, 0.4, 0.4]}
    try:
        for reply in (
            peer.call('set_mocap_pose', body=body, **pose),
            peer.call('read_mocap_pose', body=body),
        ):
            equal('body', reply.get('body'), body)
            close('pos', field(reply, 'pos', 'vector', 3), pose['pos'], 1e-6)
            close('quat', field(reply, 'quat', 'vector', 4), pose['quat'], 1e-6)
    finally:
        peer.ask('set_mocap_pose', body=body, pos=old.get('pos'), quat=old.get('quat'))


@check('mocap.one_of_both', PROTOCOL, MOCAP, 'At least one of pos / quat is required')
def one_of_both(peer: Peer) -> None:
    """pos alone keeps quat, quat alone keeps pos, and neither is an error."""
    body = mocap_body(peer)
    old = peer.call('read_mocap_pose', body=body)
    try:
        peer.call('set_mocap_pose', body=body, pos=[0.5, 0.6, 0.7])
        reply = peer.call('set_mocap_pose', body=body, quat=[0.0, 1.0, 0.0, 0.0])
        close('pos', reply['pos'], [0.5, 0.6, 0.7], 1e-6)
        reply = peer.call('set_mocap_pose', body=body, pos=[0.1, 0.2, 0.3])
        close('quat', reply['quat'], [0.0, 1.0, 0.0, 0.0], 1e-6)
        if (got := peer.ask('set_mocap_pose', body=body).get('op')) != 'error':
            raise Failed('an error without pos and quat', got)
    finally:
        peer.ask('set_mocap_pose', body=body, pos=old.get('pos'), quat=old.get('quat'))


@check('mocap.unknown_body', PROTOCOL, MOCAP, 'unknown_body if the name does not resolve')
def unknown_body(peer: Peer) -> None:
    """An unknown body answers unknown_body."""
    peer.refused('unknown_body', 'set_mocap_pose', body='no_such_body', pos=[0, 0, 0])
    peer.refused('unknown_body', 'read_mocap_pose', body='no_such_body')


@check('mocap.not_mocap_body', PROTOCOL, MOCAP, 'not_mocap_body if the body is not a mocap body')
def not_mocap_body(peer: Peer) -> None:
    """A body that is not a mocap body answers not_mocap_body; names are the compiled ones."""
    robot, _ = peer.robot(lambda robot, _: robot.bodies, 'with bodies')
    body = peer.model.name('body', next(iter(robot.bodies.values())))
    peer.refused('not_mocap_body', 'set_mocap_pose', body=body, pos=[0, 0, 0])
    peer.refused('not_mocap_body', 'read_mocap_pose', body=body)


@check('mocap.moves_body', PLUGIN, 'set_mocap_pose', modes=STEPPED)
def moves_body(peer: Peer) -> None:
    """After forward the body stands where the mocap pose is (entities show it)."""
    body = mocap_body(peer)
    if body not in (peer.hello_reply.get('entities') or {}):
        raise skip(f'the mocap body {body} is not an entity')
    old = peer.call('read_mocap_pose', body=body)
    try:
        peer.call('set_mocap_pose', body=body, pos=[0.4, 0.5, 0.6])
        peer.call('step')
        peer.call('set_mocap_pose', body=body, pos=[0.3, 0.2, 0.9])
        reply = peer.call('forward')
        if 'entities' not in reply:
            reply = peer.call('step')
        close('xpos', reply['entities'][body]['xpos'], [0.3, 0.2, 0.9], 1e-6)
    finally:
        peer.ask('set_mocap_pose', body=body, pos=old.get('pos'), quat=old.get('quat'))
    expect(old.get('op') == 'read_mocap_pose_ok', 'read_mocap_pose_ok', old.get('op'))
