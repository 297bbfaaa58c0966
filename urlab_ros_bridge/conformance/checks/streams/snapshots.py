# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What stock servers send beside the rows of the page: twists, entities and snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
import math
import struct

import msgpack

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.checks.stepping.observations import has_twist
from urlab_ros_bridge.conformance.checks.stepping.observations import STANDARD
from urlab_ros_bridge.conformance.checks.stepping.observations import TWIST
from urlab_ros_bridge.conformance.checks.stepping.stamps import nanoseconds
from urlab_ros_bridge.conformance.checks.streams.rows import CLOSING
from urlab_ros_bridge.conformance.checks.streams.rows import first
from urlab_ros_bridge.conformance.checks.streams.rows import FULL
from urlab_ros_bridge.conformance.checks.streams.rows import held
from urlab_ros_bridge.conformance.checks.streams.rows import listening
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.rows import SNAPSHOT_EXTENSIONS

SECTION = 'state stream'
ZMQ = ('zmq',)
isclose = partial(math.isclose, rel_tol=1e-6, abs_tol=1e-6)

ENTITY_ROWS = {'xpos': 3, 'xquat': 4, 'qpos': 7, 'qvel': 6}


@check('rows.twist', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def twist(peer: Peer) -> None:
    """A twist row is 12 bytes, vx, vy and yaw rate as they were set; state/full has them too."""
    observed = peer.call('step')['per_articulation']
    found = [
        block['prefix'] for block in peer.blocks if has_twist(block, observed[block['prefix']])
    ]
    if not found:
        raise skip('no articulation has a twist controller')
    try:
        wanted = {}
        for prefix in found:
            request = {'linear': [0.05, 0, 0], 'angular': [0, 0, 0.1]}
            reply = peer.call('set_twist', articulation=prefix, **request)
            wanted[prefix] = [*reply['linear'][:2], reply['angular'][2]]
        topics = [f'{prefix}/twist'.encode() for prefix in found]
        with listening(peer, *topics, FULL) as listener:
            first(listener, 'a twist row')
            heard: dict[bytes, bytes] = {}
            # A server may approach a twist slowly: the newest rows count, once they are there.
            for _ in range(8):
                heard.update({message[0]: message[1] for message in listener.during(0.25)})
                if heard.keys() >= {*topics, FULL} and _as_set(heard, topics, wanted):
                    break
            missing = {*topics, FULL} - heard.keys()
            if missing:
                raise Failed(
                    f'rows of {sorted(topics)} and a snapshot within 2 s', f'no {missing}'
                )
    finally:
        for prefix in found:
            peer.ask('set_twist', articulation=prefix)
    blocks = field(_snapshot(heard[FULL]), 'per_articulation', 'object')
    for prefix, topic in zip(found, topics, strict=True):
        payload = heard.get(topic, b'')
        equal(f'bytes of {prefix}/twist', len(payload), 12)
        row = list(struct.unpack('<3f', payload))
        close(f'vx, vy, yaw rate of {prefix}', row, wanted[prefix], 1e-5)
        shown = field(blocks, f'{prefix}/twist', 'object')
        shown = [*shown['linear'][:2], shown['angular'][2]]
        close(f'twist of {prefix} in state/full', shown, wanted[prefix], 1e-5)


def _as_set(
    heard: Mapping[bytes, bytes], topics: Sequence[bytes], wanted: Mapping[str, Sequence[float]]
) -> bool:
    """Return whether the newest twist rows show the twists that were set."""
    rows = [heard[topic] for topic in topics]
    return all(
        len(row) != 12 or all(map(isclose, struct.unpack('<3f', row), twist))
        for row, twist in zip(rows, wanted.values(), strict=True)
    )


@check('rows.entities', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def entities(peer: Peer) -> None:
    """Entity rows scene/NAME/xpos, xquat, and qpos, qvel when free, are float64."""
    known = peer.hello_reply.get('entities') or {}
    if not known:
        raise skip('the world has no entities')
    wanted = {
        f'scene/{name}/{part}'.encode()
        for name, block in known.items()
        for part in ENTITY_ROWS
        if block['has_free_base'] or not part.startswith('q')
    }
    rows, state = held(peer, wanted)
    for name, block in known.items():
        for part, size in ENTITY_ROWS.items():
            topic = f'scene/{name}/{part}'
            payload = rows.get(topic.encode())
            if part.startswith('q') and not block['has_free_base']:
                expect(payload is None, f'no row {topic} of a fixed body', payload)
                continue
            payload = payload or b''
            equal(f'bytes of {topic}', len(payload), 8 * size)
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
    """
    state/full is a msgpack map like step_ok at standard level, with op state_full.

    Extensions that hello_ok lists may add fields of their own.
    """
    with listening(peer, FULL) as listener:
        snapshot = _snapshot(first(listener, 'a snapshot')[1])
    equal('op', snapshot.get('op'), 'state_full')
    field(snapshot, 'step', 'integer')
    nanoseconds(snapshot, 'wall_time')
    stamp = nanoseconds(snapshot, 'sim_time')
    close('sim_time', stamp, field(snapshot, 'time', 'number') * 1e9, 1.5)
    added = [name for word, name in SNAPSHOT_EXTENSIONS.items() if peer.extension(word)]
    blocks = field(snapshot, 'per_articulation', 'object')
    equal('prefixes', sorted(blocks), sorted(block['prefix'] for block in peer.blocks))
    for prefix, block in blocks.items():
        keys(f'snapshot of {prefix}', block, STANDARD, (*TWIST, *added))
    equal('entities', sorted(field(snapshot, 'entities', 'object')),
          sorted(peer.hello_reply.get('entities') or {}))  # fmt: skip


@check('rows.order', PLUGIN, SECTION, modes=LIVE, transports=ZMQ)
def order(peer: Peer) -> None:
    """A tick is the rows of each articulation, then of entities, then one state/full."""
    with listening(peer) as listener:
        first(listener, 'a row')
        listener.during(0.1)
        heard: list[bytes] = []
        for _ in range(10):  # a busy machine may send little in a tenth of a second
            heard += [message[0] for message in listener.during(0.1)]
            if heard.count(FULL) >= 3:
                break
    marks = [index for index, topic in enumerate(heard) if topic == FULL]
    if len(marks) < 3:
        raise skip('no snapshots mark the ticks')
    prefixes = [block['prefix'] for block in peer.blocks]
    for start, end in pairwise(marks):
        tick = [topic for topic in heard[start + 1 : end] if topic != CLOSING]
        owners = [topic.decode().partition('/')[0] for topic in tick]
        ranks = [prefixes.index(o) if o in prefixes else len(prefixes) for o in owners]
        expect(ranks == sorted(ranks), 'articulations in turn, then entities', tick)
        equal('topics that appear twice in a tick', len(tick) - len(set(tick)), 0)


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
