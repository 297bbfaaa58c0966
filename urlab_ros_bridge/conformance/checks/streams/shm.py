# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared-memory regions: headers, the state ring, camera rings, and requests beside ZMQ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import time

import msgpack

from urlab_ros_bridge.conformance.channels.shm_raw import HEADER_BYTES
from urlab_ros_bridge.conformance.channels.shm_raw import MAGIC
from urlab_ros_bridge.conformance.channels.shm_raw import RawRegion
from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.requests.errors import served
from urlab_ros_bridge.conformance.checks.streams.cameras import served_cameras
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.peer import NoAnswer
from urlab_ros_bridge.conformance.peer import pack
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import EDITOR_ONLY

SHM = ('shm',)
SECTION = 'Transports'
STRIDES = {'state.shm': 16384, 'req.shm': 1 << 20, 'rep.shm': 1 << 20}


def directory(peer: Peer) -> Path:
    """Return the directory of the regions."""
    return Path(field(peer.hello_reply, 'shm_session_dir', 'text'))


@contextmanager
def region(peer: Peer, name: str) -> Iterator[RawRegion]:
    """Map a region for a while."""
    path = directory(peer) / name
    if not path.is_file():
        raise Failed(f'a file {path}', 'none')
    opened = RawRegion(path)
    try:
        yield opened
    finally:
        opened.close()


@check('shm.files', PROTOCOL, SECTION, 'req.shm / rep.shm (RPC), state.shm', transports=SHM)
def files(peer: Peer) -> None:
    """The directory of the handshake has req.shm, rep.shm and state.shm."""
    for name in STRIDES:
        expect((directory(peer) / name).is_file(), f'{name} in {directory(peer)}', 'no file')


@check('shm.header', PLUGIN, 'shared memory', transports=SHM)
def header(peer: Peer) -> None:
    """A region has magic "URLB", version 1, its stride, two buffers, and the size they need."""
    for name, smallest in STRIDES.items():
        with region(peer, name) as opened:
            magic, version, stride, buffers, _, latest = opened.header
            equal(f'magic of {name}', hex(magic), hex(MAGIC))
            equal(f'version of {name}', version, 1)
            expect(stride >= smallest, f'a stride of {smallest} for {name}', stride)
            expect(buffers >= 2, 'two buffers', buffers)
            expect(latest < buffers, f'a latest index below {buffers}', latest)
            expect(opened.size >= HEADER_BYTES + stride * buffers, 'room for them', opened.size)


@check('shm.state', PLUGIN, 'shared memory', modes=LIVE, transports=SHM)
def state(peer: Peer) -> None:
    """state.shm holds what state/full does, and its sequence grows in live mode."""
    with region(peer, 'state.shm') as opened:
        payload = opened.wait(-1, 2.0)
        expect(payload is not None, 'a snapshot within 2 s', 'none')
        sequence = opened.header[4]
        snapshot = msgpack.unpackb(payload)
        equal('op', snapshot.get('op'), 'state_full')
        first = field(snapshot, 'time', 'number')
        field(snapshot, 'per_articulation', 'object')
        time.sleep(0.05)
        later = opened.wait(sequence, 2.0)
        expect(later is not None, 'another snapshot within 2 s', 'none')
        expect(msgpack.unpackb(later)['time'] > first, f'a time after {first}', 'none later')


@check('shm.one_session', NETWORKING, 'Transports', 'carry the same msgpack frames',
       modes=DIRECT, transports=SHM)  # fmt: skip
def one_session(peer: Peer) -> None:
    """A session from a hello over ZMQ works over both, and both see one state."""
    here = peer.call('step', n_steps=3)
    request = pack({'op': 'forward', 'session_id': peer.session_id})
    there = decode(peer.zmq.exchange(request))
    equal('op over ZMQ', there.get('op'), 'forward_ok')
    close('time over ZMQ', there['time'], here['time'], 1e-12)
    equal('step over ZMQ', there['step'], here['step'])


@check('shm.oversize', NETWORKING, 'Transports', 'any oversize RPC fall back to ZMQ',
       transports=SHM, stock='an oversize reply is dropped')  # fmt: skip
def oversize(peer: Peer) -> None:
    """A reply that does not fit answers reply_too_large, so that the client asks over ZMQ."""
    with region(peer, 'rep.shm') as opened:
        room = opened.header[2] - 4
    size = len(peer.zmq.exchange(pack({'op': 'hello'})))
    if size <= room:
        raise skip(f'the largest reply, {size} bytes, fits into {room}')
    try:
        reply = decode(peer.channel.exchange(pack({'op': 'hello'}), 3.0))
    except NoAnswer:
        raise Failed('reply_too_large', 'no reply at all') from None
    equal('code', reply.get('code'), 'reply_too_large')


@check('shm.hello_on_zmq', NETWORKING, 'Transports', 'The handshake', modes=DIRECT,
       transports=SHM)  # fmt: skip
def after_hello(peer: Peer) -> None:
    """After another hello over ZMQ, the old session is expired over SHM too."""
    old = peer.session_id
    peer.hello()
    peer.refused('session_expired', 'step', session_id=old)
    peer.call('step')


@check('shm.wrong_transport', PLUGIN, 'shared memory', transports=SHM)
def wrong_transport(peer: Peer) -> None:
    """Editor ops over SHM are refused: wrong_transport (not_in_editor without an editor)."""
    known = [n for n, entry in served(peer).items() if entry.get('category') == EDITOR_ONLY]
    if not known:
        peer.refused('not_in_editor', 'list_actors')
    else:
        peer.refused('wrong_transport', known[0])


@check('shm.cameras', PROTOCOL, SECTION, 'cam_<prefix>_<name>.shm', transports=SHM, modes=LIVE)
def cameras(peer: Peer) -> None:
    """Every camera of an articulation has a region with a stride for one frame."""
    for name, (prefix, camera) in served_cameras(peer).items():
        width, height = (int(value) for value in camera['resolution'])
        with region(peer, f'cam_{prefix}_{name}.shm') as opened:
            equal('magic', hex(opened.header[0]), hex(MAGIC))
            stride = opened.header[2]
            expect(stride >= width * height * 4 + 4, f'{width * height * 4 + 4} bytes', stride)
