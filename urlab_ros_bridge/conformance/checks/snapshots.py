# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What stock servers send beside the rows of the page: twists, entities and snapshots."""

from __future__ import annotations

from itertools import pairwise
import struct

import msgpack

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import equal
from urlab_ros_bridge.conformance.check import expect
from urlab_ros_bridge.conformance.check import Failed
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import skip
from urlab_ros_bridge.conformance.checks.observations import STANDARD
from urlab_ros_bridge.conformance.checks.observations import TWIST
from urlab_ros_bridge.conformance.checks.rows import CLOSING
from urlab_ros_bridge.conformance.checks.rows import first
from urlab_ros_bridge.conformance.checks.rows import FULL
from urlab_ros_bridge.conformance.checks.rows import held
from urlab_ros_bridge.conformance.checks.rows import listening
from urlab_ros_bridge.conformance.checks.stamps import nanoseconds
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import Peer

SECTION = 'state stream'
ZMQ = ('zmq',)
ENTITY_ROWS = {'xpos': 3, 'xquat': 4, 'qpos': 7, 'qvel': 6}


@check('rows.twist', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def twist(peer: Peer) -> None:
    """A twist row is 12 bytes: vx, vy and yaw rate as they were set."""
    found = [block['prefix'] for block in peer.blocks if 'twist_controller' in block]
    observed = peer.call('step')['per_articulation']
    found = found or [prefix for prefix, block in observed.items() if 'twist' in block]
    if not found:
        raise skip('no articulation has a twist controller')
    peer.call('set_twist', articulation=found[0], linear=[0.2, 0, 0], angular=[0, 0, 0.1])
    try:
        with listening(peer, f'{found[0]}/twist'.encode()) as listener:
            first(listener, 'a twist row')
            payload = listener.during(0.5)[-1][1]
    finally:
        peer.ask('set_twist', articulation=found[0])
    equal('bytes', len(payload), 12)
    close('vx, vy, yaw rate', list(struct.unpack('<3f', payload)), [0.2, 0.0, 0.1], 1e-5)


@check('rows.entities', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def entities(peer: Peer) -> None:
    """Entity rows scene/NAME/xpos, xquat, and qpos, qvel when free, are float64."""
    known = peer.hello_reply.get('entities') or {}
    if not known:
        raise skip('the world has no entities')
    rows, state = held(peer)
    for name, block in known.items():
        for part, size in ENTITY_ROWS.items():
            topic = f'scene/{name}/{part}'
            payload = rows.get(topic.encode())
            if part.startswith('q') and not block['has_free_base']:
                expect(payload is None, f'no row {topic} of a fixed body', payload)
                continue
            equal(f'bytes of {topic}', len(payload or b''), 8 * size)
            values = list(struct.unpack(f'<{size}d', payload))
            close(f'values of {topic}', values, state['entities'][name][part], 1e-6)


def _snapshot(payload: bytes) -> dict:
    try:
        value = msgpack.unpackb(payload)
    except Exception as error:
        raise Failed('a snapshot in msgpack', str(error)) from None
    expect(isinstance(value, dict), 'a map', type(value).__name__)
    return value


@check('rows.snapshot', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def snapshot(peer: Peer) -> None:
    """state/full is a msgpack map like step_ok at standard level, with op state_full."""
    with listening(peer, FULL) as listener:
        snapshot = _snapshot(first(listener, 'a snapshot')[1])
    equal('op', snapshot.get('op'), 'state_full')
    field(snapshot, 'step', 'integer')
    nanoseconds(snapshot, 'wall_time')
    stamp = nanoseconds(snapshot, 'sim_time')
    close('sim_time', stamp, field(snapshot, 'time', 'number') * 1e9, 1.5)
    blocks = field(snapshot, 'per_articulation', 'object')
    equal('prefixes', sorted(blocks), sorted(block['prefix'] for block in peer.blocks))
    for prefix, block in blocks.items():
        keys(f'snapshot of {prefix}', block, STANDARD, (*TWIST, 'effort'))
    equal('entities', sorted(field(snapshot, 'entities', 'object')),
          sorted(peer.hello_reply.get('entities') or {}))  # fmt: skip


@check('rows.order', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def order(peer: Peer) -> None:
    """A tick is the rows of each articulation, then of entities, then one state/full."""
    with listening(peer) as listener:
        first(listener, 'a row')
        listener.during(0.1)
        heard = [message[0] for message in listener.during(0.1)]
    marks = [index for index, topic in enumerate(heard) if topic == FULL]
    if len(marks) < 3:
        raise skip('no snapshots mark the ticks')
    prefixes = [block['prefix'] for block in peer.blocks]
    for start, end in pairwise(marks):
        tick = [topic for topic in heard[start + 1 : end] if topic != CLOSING]
        owners = [topic.decode().partition('/')[0] for topic in tick]
        ranks = [prefixes.index(o) if o in prefixes else len(prefixes) for o in owners]
        expect(ranks == sorted(ranks), 'articulations in turn, then entities', tick)
        equal('topics that come twice in a tick', len(tick) - len(set(tick)), 0)


@check('rows.closing', PLUGIN, 'extension sim_time_row', modes=LIVE, transports=ZMQ)
def closing(peer: Peer) -> None:
    """The extension row sim_time closes a tick with the time of its snapshot (24 bytes)."""
    if not peer.extension('sim_time_row'):
        raise skip('the server has no extension sim_time_row')
    with listening(peer, FULL, CLOSING) as listener:
        first(listener, 'a snapshot')
        heard = listener.during(0.1)
    for before, after in pairwise(heard):
        if before[0] == FULL:
            equal('the message after state/full', after[0], CLOSING)
            equal('bytes', len(after[1]), 24)
            stamp = struct.unpack('<qQq', after[1])[0]
            equal('nanoseconds', stamp, nanoseconds(_snapshot(before[1]), 'sim_time'))
