# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the state stream: topics, layouts, values, order, and when they stop."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import struct
import time

import msgpack

from urlab_ros_bridge.conformance.channels.zmq_raw import RowListener
from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PUPPET
from urlab_ros_bridge.conformance.checks.stepping.observations import pose_step
from urlab_ros_bridge.conformance.checks.world.poses import target
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.model import FREE
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'Streaming wire format'
ZMQ = ('zmq',)
FULL, CLOSING = b'state/full', b'sim_time'
WAIT = 5.0  # s until the first message must have come
TILTED = [0.8, 0.2, 0.4, 0.4]


@contextmanager
def listening(peer: Peer, *topics: bytes) -> Iterator[RowListener]:
    """Listen to the state stream; checks that need a message call `first`."""
    if not peer.places.state:
        raise Failed('a state stream', 'none: the ports of hello_ok name none')
    with RowListener(peer.places.state, topics or (b'',), peer.protect) as listener:
        yield listener


def first(listener: RowListener, what: str, wait: float = WAIT) -> list[bytes]:
    """Return the next message, which must come."""
    message = listener.receive(wait)
    if message is None:
        got = f'nothing from {listener.endpoint}; is it the right --state-port?'
        raise Failed(f'{what} within {wait:g} s', got)
    return message


def latest(peer: Peer, wanted: set[bytes], seconds: float = 0.15) -> dict[bytes, bytes]:
    """
    Return the latest payload of every topic of a live simulation.

    :param wanted: topics to wait for: slow sensors have a row once in many ticks.
    :param seconds: to listen to the others.
    """
    with listening(peer) as listener:
        heard = [first(listener, 'a row'), *listener.during(seconds)]
        end = time.monotonic() + WAIT
        topics = {message[0] for message in heard}
        while not wanted <= topics and time.monotonic() < end:
            heard += listener.during(0.1)
            topics = {message[0] for message in heard}
    return {message[0]: message[-1] for message in heard}


def held(peer: Peer, wanted: set[bytes]) -> tuple[dict[bytes, bytes], dict]:
    """
    Return the rows of a paused live simulation, and its state.

    Free bases are tilted, so that every number of a pose differs from the others.

    :param wanted: topics to wait for.
    """
    peer.call('set_paused', paused=True)
    for block in peer.blocks:
        robot = peer.model.robots[block['prefix']]
        if robot.free_base:
            pose = [0.3, -0.4, 1.2, *TILTED]
            pose += [float(peer.model.mj.qpos0[slot]) for slot in robot.qpos[7:]]
            peer.call('set_qpos', qpos=pose, **target(block))
    return latest(peer, wanted, 0.3), peer.call('step')


@check('rows.two_parts', PLUGIN, 'state stream', modes=LIVE, transports=ZMQ)
def two_parts(peer: Peer) -> None:
    """A message has two parts, topic and payload."""
    with listening(peer) as listener:
        heard = [first(listener, 'a row'), *listener.during(0.05)]
    for message in heard:
        equal(f'parts of {message[0]!r}', len(message), 2)


@check('rows.topics', NETWORKING, SECTION, 'topics are {ArticPrefix}/{suffix}', modes=LIVE,
       transports=ZMQ)  # fmt: skip
def topics(peer: Peer) -> None:
    """Joints, free joints and sensors of every articulation have their rows."""
    wanted = set()
    for prefix, robot in peer.model.robots.items():
        for joint in robot.joints:
            kind = 'base_state' if joint.kind == FREE else 'joint'
            wanted.add(f'{prefix}/{kind}/{joint.name}'.encode())
        wanted |= {f'{prefix}/sensor/{name}'.encode() for name in robot.sensors}
    if not wanted:
        raise skip('no articulation has joints or sensors')
    rows = latest(peer, wanted)
    missing = sorted(topic.decode() for topic in wanted - set(rows))
    equal('missing rows', missing, [])
    kinds = (b'/joint/', b'/base_state/', b'/sensor/')
    prefixes = tuple(f'{prefix}/'.encode() for prefix in peer.model.robots)
    extra = {
        topic for topic in rows
        if topic.startswith(prefixes) and any(kind in topic for kind in kinds)
    } - wanted  # fmt: skip
    equal('rows of nothing that exists', sorted(topic.decode() for topic in extra), [])


@check('rows.joint', NETWORKING, SECTION, 'int32 id, float pos, float vel, float acc', modes=LIVE,
       transports=ZMQ)  # fmt: skip
def joint(peer: Peer) -> None:
    """A joint row is 16 bytes: the global joint id, and the joint's pos and vel."""
    peer.robot(lambda robot, _: any(j.kind != FREE for j in robot.joints), 'with joints')
    wanted = {
        f'{prefix}/joint/{item.name}'.encode()
        for prefix, robot in peer.model.robots.items()
        for item in robot.joints
        if item.kind != FREE
    }
    rows, state = held(peer, wanted)
    for prefix, robot in peer.model.robots.items():
        block, q, v = state['per_articulation'][prefix], 0, 0
        for item in robot.joints:
            if item.kind != FREE:
                topic = f'{prefix}/joint/{item.name}'
                payload = rows.get(topic.encode(), b'')
                equal(f'bytes of {topic}', len(payload), 16)
                number, pos, vel, _ = struct.unpack('<i3f', payload)
                equal(f'id of {topic}', number, item.id)
                close(f'pos of {topic}', pos, block['qpos'][q], 1e-4)
                close(f'vel of {topic}', vel, block['qvel'][v], 1e-4)
            q, v = q + item.nq, v + item.nv


@check('rows.base_state', NETWORKING, SECTION, '13 float32 values with the quaternion in xyzw',
       modes=LIVE, transports=ZMQ)  # fmt: skip
def base_state(peer: Peer) -> None:
    """A base_state row is 52 bytes: pos, quat as xyzw, linvel, angvel."""
    peer.robot(lambda robot, _: robot.free_base, 'with a free base')
    wanted = {
        f'{prefix}/base_state/{robot.joints[0].name}'.encode()
        for prefix, robot in peer.model.robots.items()
        if robot.free_base
    }
    rows, state = held(peer, wanted)
    for prefix, robot in peer.model.robots.items():
        if not robot.free_base:
            continue
        topic = f'{prefix}/base_state/{robot.joints[0].name}'
        payload = rows.get(topic.encode(), b'')
        equal(f'bytes of {topic}', len(payload), 52)
        values = list(struct.unpack('<13f', payload))
        block = state['per_articulation'][prefix]
        w, x, y, z = block['qpos'][3:7]
        close(f'pos of {topic}', values[:3], block['qpos'][:3], 1e-4)
        close(f'quat (xyzw) of {topic}', values[3:7], [x, y, z, w], 1e-4)
        close(f'linvel and angvel of {topic}', values[7:], block['qvel'][:6], 1e-3)


@check('rows.sensor', NETWORKING, SECTION, 'int32 id, int32 dim, float[dim]', modes=LIVE,
       transports=ZMQ)  # fmt: skip
def sensor(peer: Peer) -> None:
    """A sensor row is the global sensor id, the dimension and as many float32."""
    peer.robot(lambda robot, _: robot.sensors, 'with sensors')
    rows, state = held(peer, set())
    for prefix, robot in peer.model.robots.items():
        for name, (number, _, dim) in robot.sensors.items():
            topic = f'{prefix}/sensor/{name}'
            payload = rows.get(topic.encode())
            if payload is None:  # a scanner's row comes at its own rate
                continue
            equal(f'bytes of {topic}', len(payload), 8 + 4 * dim)
            equal(f'id and dim of {topic}', struct.unpack_from('<2i', payload), (number, dim))
            values = list(struct.unpack_from(f'<{dim}f', payload, 8))
            expected = state['per_articulation'][prefix]['sensors'][name]
            largest = max(map(abs, expected), default=0.0)
            close(f'values of {topic}', values, expected, 1e-3 + 1e-6 * largest)  # float32


@check('rows.every_tick', NETWORKING, 'Step modes', 'Publishers fire every tick', modes=LIVE,
       transports=ZMQ)  # fmt: skip
def every_tick(peer: Peer) -> None:
    """In live mode every timestep sends its rows: one of each joint between two snapshots."""
    robot, _ = peer.robot(
        lambda robot, _: any(j.kind != FREE for j in robot.joints), 'with joints'
    )
    name = next(j.name for j in robot.joints if j.kind != FREE)
    topic = f'{robot.prefix}/joint/{name}'.encode()
    with listening(peer, topic, FULL) as listener:
        first(listener, 'a row')
        listener.during(0.05)
        heard = listener.during(0.2)
    times = [msgpack.unpackb(m[1])['time'] for m in heard if m[0] == FULL]
    rows = sum(m[0] == topic for m in heard)
    if len(times) < 3:
        raise skip('no snapshots carry the time')
    span = (times[-1] - times[0]) / peer.timestep
    close('snapshots', len(times) - 1, span, 1.5)
    close('joint rows', rows, span, 3.0)


@check('rows.stop', NETWORKING, 'Step modes', 'Free-run publishers are paused', modes=DIRECT,
       transports=ZMQ)  # fmt: skip
def stop_in_direct(peer: Peer) -> None:
    """In direct mode no rows come, stepping or not."""
    _silent(peer, lambda: peer.call('step', n_steps=3))


@check('rows.stop_in_puppet', PLUGIN, 'state stream', modes=PUPPET, transports=ZMQ)
def stop_in_puppet(peer: Peer) -> None:
    """In puppet mode no rows come either."""
    _silent(peer, lambda: pose_step(peer))


def _silent(peer: Peer, step: Callable[[], object]) -> None:
    prefixes = tuple(f'{block["prefix"]}/'.encode() for block in peer.blocks)
    with listening(peer, *prefixes) as listener:
        listener.drain(quiet=0.2, limit=2.0)  # rows of live mode may still be on their way
        step()
        end = time.monotonic() + 0.15
        while time.monotonic() < end:
            step()
            message = listener.receive(0.01)
            if message is not None:
                raise Failed('no rows', f'a row {message[0]!r}')
    if not prefixes:
        raise skip('there is no articulation')
    expect(prefixes, 'articulations', prefixes)


@check('rows.resume', NETWORKING, 'Step modes', 'Publishers fire every tick', transports=ZMQ)
def resume(peer: Peer) -> None:
    """Back in live mode the rows come again."""
    peer.need_free_mode()
    peer.robot(lambda robot, _: robot.joints, 'with joints')
    prefixes = [f'{block["prefix"]}/'.encode() for block in peer.blocks]
    with listening(peer, *prefixes) as listener:
        listener.during(0.1)
        peer.call('set_mode', mode='live')
        first(listener, 'a row')
    field(peer.call('set_mode', mode='live'), 'current_mode', 'text')
