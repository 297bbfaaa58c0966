# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Observation levels: exactly the blocks of a level, of the right lengths and values."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import PUPPET
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import skip

LEVELS = 'Observation levels'
MINIMAL = ('qpos', 'qvel')
STANDARD = (*MINIMAL, 'ctrl', 'act', 'sensors')
TWIST = ('twist', 'actions')


def has_twist(block: dict[str, Any], observed: dict[str, Any]) -> bool:
    """Return whether an articulation has a twist controller, by handshake or observation."""
    return 'twist_controller' in block or 'twist' in observed


def pose_step(peer: Peer, **more: Any) -> dict[str, Any]:
    """Return a puppet step whose state is posed: every joint away from its reference."""
    model = peer.model
    qpos = [float(value) for value in model.mj.qpos0]
    for index in range(model.mj.njnt):
        start, kind = int(model.mj.jnt_qposadr[index]), int(model.mj.jnt_type[index])
        if kind == 0:
            qpos[start + 2] += 0.5 + 0.1 * index
            qpos[start + 3 : start + 7] = [0.8, 0.2, 0.4, 0.4]
        elif kind == 1:
            qpos[start : start + 4] = [0.8, 0.2, 0.4, 0.4]
        else:
            qpos[start] += 0.11 + 0.01 * index
    qvel = [0.01 * (index + 1) for index in range(model.mj.nv)]
    return peer.call('step', time=1.5, qpos=qpos, qvel=qvel, **more)


def posed(peer: Peer) -> tuple[dict[str, Any], Any]:
    """Return the full reply to a posed puppet step, and MuJoCo's own data for that state."""
    reply = pose_step(peer, observations='full')
    return reply, peer.model.settled(*peer.model.whole(reply))


@check('observe.minimal', PROTOCOL, LEVELS, 'qpos, qvel', modes=STEPPED)
def minimal(peer: Peer) -> None:
    """minimal has qpos and qvel for every articulation, and times and step at the top."""
    reply = peer.call('step', observations='minimal')
    for prefix, block in field(reply, 'per_articulation', 'object').items():
        keys(f'minimal of {prefix}', block, MINIMAL, TWIST if peer.stock else ())
    for name in ('time', 'step', 'sim_time', 'wall_time'):
        field(reply, name)


@check(
    'observe.standard', PROTOCOL, LEVELS, 'minimal + ctrl + act + sensors by name', modes=STEPPED,
)  # fmt: skip
def standard(peer: Peer) -> None:
    """standard adds ctrl, act and sensors, and nothing else but twist and actions."""
    reply = peer.call('step', observations='standard')
    for prefix, block in field(reply, 'per_articulation', 'object').items():
        keys(f'standard of {prefix}', block, STANDARD, TWIST)


@check(
    'observe.full', PROTOCOL, LEVELS, 'standard + body xpos / xquat + actuator forces',
    modes=STEPPED,
)  # fmt: skip
def full(peer: Peer) -> None:
    """full adds bodies (xpos, xquat) and actuator_force."""
    reply = peer.call('step', observations='full')
    for prefix, block in field(reply, 'per_articulation', 'object').items():
        keys(f'full of {prefix}', block, (*STANDARD, 'bodies', 'actuator_force'), TWIST)
        for name, body in field(block, 'bodies', 'object').items():
            keys(f'body {name}', body, ('xpos', 'xquat'))
            field(body, 'xpos', 'vector', 3)
            field(body, 'xquat', 'vector', 4)


@check(
    'observe.twist', PROTOCOL, 'Reply', 'only when the articulation has a UMjTwistController',
    modes=DIRECT, stock='twist and actions are sent at every level',
)  # fmt: skip
def twist(peer: Peer) -> None:
    """twist and actions are there from standard up, both or none, with a twist controller."""
    found = 0
    for level in ('minimal', 'standard'):
        blocks = peer.call('step', observations=level)['per_articulation']
        for handshake in peer.blocks:
            block = blocks[handshake['prefix']]
            wanted = level != 'minimal' and has_twist(handshake, block)
            name = f'twist and actions of {handshake["prefix"]} at {level}'
            equal(name, [key for key in TWIST if key in block], list(TWIST) if wanted else [])
            if wanted:
                found += 1
                linear = field(block, 'twist/linear', 'vector', 3)
                angular = field(block, 'twist/angular', 'vector', 3)
                equal('slots of twist that are always 0', [linear[2], *angular[:2]], [0, 0, 0])
                field(block, 'actions', 'integer')
    if not found:
        raise skip('no articulation has a twist controller')


@check('observe.per_request', PROTOCOL, LEVELS, 'field on hello and step selects', modes=STEPPED,
       stock='the level of a step holds for the whole session')  # fmt: skip
def per_request(peer: Peer) -> None:
    """observations of a step selects the payload of that step; the next has the session's."""
    peer.call('step', observations='minimal')
    for prefix, block in peer.call('step')['per_articulation'].items():
        keys(f'{prefix} without observations', block, STANDARD, TWIST)


@check('observe.articulations', PROTOCOL, 'Reply', modes=STEPPED)
def articulations(peer: Peer) -> None:
    """per_articulation has exactly the articulations of the handshake."""
    prefixes = sorted(block['prefix'] for block in peer.blocks)
    got = sorted(field(peer.call('step'), 'per_articulation', 'object'))
    equal('prefixes', got, prefixes)


@check('observe.lengths', PROTOCOL, 'Reply', modes=STEPPED)
def lengths(peer: Peer) -> None:
    """qpos, qvel, ctrl, act, actuator_force and sensors have the lengths of the model."""
    reply = peer.call('step', observations='full')
    for prefix, robot in peer.model.robots.items():
        block = reply['per_articulation'][prefix]
        for name, size in (
            ('qpos', len(robot.qpos)),
            ('qvel', len(robot.qvel)),
            ('ctrl', len(robot.actuators)),
            ('act', len(robot.actuators)),
            ('actuator_force', len(robot.actuators)),
        ):
            field(block, name, 'vector', size)
        equal(f'sensors of {prefix}', sorted(block['sensors']), sorted(robot.sensors))
        for name, (_, _, dim) in robot.sensors.items():
            field(block['sensors'], name, 'vector', dim)


@check('observe.local_names', PLUGIN, 'names', modes=STEPPED)
def local_names(peer: Peer) -> None:
    """Sensors and bodies have local names, without the prefix."""
    reply = peer.call('step', observations='full')
    for prefix, robot in peer.model.robots.items():
        block = reply['per_articulation'][prefix]
        equal(f'sensors of {prefix}', sorted(block['sensors']), sorted(robot.sensors))
        equal(f'bodies of {prefix}', sorted(block['bodies']), sorted(robot.bodies))


@check('observe.bodies', PROTOCOL, LEVELS, 'body xpos / xquat', modes=PUPPET)
def bodies(peer: Peer) -> None:
    """Body poses are those of MuJoCo for the reported qpos: metres, and quaternions wxyz."""
    reply, data = posed(peer)
    for prefix, robot in peer.model.robots.items():
        for name, number in robot.bodies.items():
            body = field(reply, f'per_articulation/{prefix}/bodies/{name}', 'object')
            close(f'xpos of {name}', field(body, 'xpos'), data.xpos[number].tolist(), 1e-5)
            close(f'xquat of {name}', field(body, 'xquat'), data.xquat[number].tolist(), 1e-5)


@check('observe.sensors', PROTOCOL, LEVELS, 'sensors by name', modes=PUPPET)
def sensors(peer: Peer) -> None:
    """
    Sensor values are those of MuJoCo for the reported state.

    A sensor that returns two values for one state is noisy on purpose and skipped.
    """
    peer.call('reset', seed=1)
    again = pose_step(peer, observations='full')['per_articulation']
    peer.call('reset', seed=2)
    reply, data = posed(peer)
    user = 56  # mjSENS_USER and what comes later are filled by the server itself
    for prefix, robot in peer.model.robots.items():
        block = reply['per_articulation'][prefix]['sensors']
        for name, (number, start, dim) in robot.sensors.items():
            kind, stage = peer.model.mj.sensor_type[number], peer.model.mj.sensor_needstage[number]
            if again[prefix]['sensors'][name] != block[name]:
                continue
            # Stage 3 depends on accelerations, so on the solver's warm start.
            if kind < user - 10 and stage < 3:
                expected = data.sensordata[start : start + dim].tolist()
                close(f'sensor {name}', field(block, name, 'vector'), expected, 1e-5)


@check('observe.entities', PROTOCOL, 'Reply', modes=STEPPED)
def entities(peer: Peer) -> None:
    """entities has those of the handshake: xpos and xquat, and qpos and qvel when free."""
    blocks = field(peer.call('step', observations='minimal'), 'entities', 'object')
    known = peer.hello_reply['entities']
    equal('entities', sorted(blocks), sorted(known))
    for name, block in blocks.items():
        free = known[name]['has_free_base']
        keys(f'entity {name}', block, ('xpos', 'xquat', *(MINIMAL if free else ())))
        field(block, 'xpos', 'vector', 3)
        field(block, 'xquat', 'vector', 4)
        if free:
            field(block, 'qpos', 'vector', 7)
            field(block, 'qvel', 'vector', 6)


@check('observe.entity_poses', PROTOCOL, 'Reply', modes=PUPPET)
def entity_poses(peer: Peer) -> None:
    """xpos and xquat of a free entity are its qpos: position, then quaternion wxyz."""
    if not peer.model.free_entities:
        raise skip('the world has no free entity')
    reply = pose_step(peer)
    for name in peer.model.free_entities:
        block = reply['entities'][name]
        close(f'xpos of {name}', block['xpos'], block['qpos'][:3], 1e-5)
        close(f'xquat of {name}', block['xquat'], [0.8, 0.2, 0.4, 0.4], 1e-5)
