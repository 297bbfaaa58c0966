# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera streams, and include_cameras of a step."""

from __future__ import annotations

import struct
import time
from typing import Any
from urllib.parse import urlsplit

from urlab_ros_bridge.conformance.channels.zmq_raw import RowListener
from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import STEPPED
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import is_number
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'Camera observations'
ZMQ = ('zmq',)
DTYPES = {'real': 'bgra8', 'semantic': 'bgra8', 'instance': 'bgra8', 'depth': 'float32'}
FIRST_FRAME = 30.0  # s, at most; a renderer starts when the first frame is wanted


def served_cameras(peer: Peer) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return name -> (prefix, handshake entry) of the served cameras whose name is their own."""
    names = [n for block in peer.blocks for n in block.get('camera_topics') or {}]
    found = {
        name: (block['prefix'], camera)
        for block in peer.blocks
        for name, camera in (block.get('camera_topics') or {}).items()
        if names.count(name) == 1
    }
    if not found:
        raise skip('the handshake lists no cameras')
    # Without graphics, or when configured so, a server lists them with an empty endpoint.
    served = {name: entry for name, entry in found.items() if entry[1].get('zmq_endpoint') != ''}
    if not served:
        raise skip('the server serves no camera: no zmq_endpoint is named')
    return served


def check_block(name: str, camera: dict[str, Any], block: Any) -> bytes:
    """Demand that a camera's block fits its handshake entry; return the pixels."""
    width, height = (int(value) for value in camera['resolution'])
    equal(f'width of {name}', field(block, 'width', 'integer'), width)
    equal(f'height of {name}', field(block, 'height', 'integer'), height)
    equal(f'dtype of {name}', field(block, 'dtype', 'text'), DTYPES[camera['mode']])
    data = field(block, 'data', 'bytes')
    equal(f'bytes of {name}', len(data), width * height * 4)
    return data


def sync_step(peer: Peer, names: list[str], **more: Any) -> dict[str, Any]:
    """Return the cameras block of a step that waits for fresh frames."""
    wanted = dict.fromkeys(names, 'sync')
    end = time.monotonic() + FIRST_FRAME
    reply = peer.call('step', FIRST_FRAME, include_cameras=wanted, **more)
    while 'cameras' not in reply and time.monotonic() < end:  # the renderer is still starting
        reply = peer.call('step', FIRST_FRAME, include_cameras=wanted, **more)
    return field(reply, 'cameras', 'object')


@check('camera.sync', PROTOCOL, SECTION, 'blocks the step until UE captures a fresh frame',
       modes=STEPPED)  # fmt: skip
def sync(peer: Peer) -> None:
    """A camera asked for with "sync" is in the reply: width, height, dtype by mode, data."""
    known = served_cameras(peer)
    for name, (_, camera) in known.items():
        block = sync_step(peer, [name])
        equal('cameras', sorted(block), [name])
        check_block(name, camera, block[name])


@check('camera.all', PROTOCOL, SECTION, 'every camera, latest cached frame', modes=STEPPED)
def everything(peer: Peer) -> None:
    """include_cameras true brings every camera that has a frame, false none."""
    known = served_cameras(peer)
    seen: dict[str, Any] = {}
    end = time.monotonic() + FIRST_FRAME
    while set(seen) < set(known) and time.monotonic() < end:
        seen.update(peer.call('step', include_cameras=True).get('cameras') or {})
        time.sleep(0.02)
    equal('cameras received', sorted(set(known) & set(seen)), sorted(known))
    for name, (_, camera) in known.items():
        check_block(name, camera, seen[name])
    expect('cameras' not in peer.call('step', include_cameras=False), 'no cameras', 'cameras')


@check('camera.latest', PROTOCOL, SECTION, 'returns the cached one', modes=DIRECT)
def latest(peer: Peer) -> None:
    """ "latest" brings a frame that is there already, of that camera only."""
    name, (_, camera) = next(iter(served_cameras(peer).items()))
    end = time.monotonic() + FIRST_FRAME
    while time.monotonic() < end:
        block = peer.call('step', include_cameras={name: 'latest'}).get('cameras')
        if block:
            equal('cameras', sorted(block), [name])
            check_block(name, camera, block[name])
            return
        time.sleep(0.02)
    raise Failed(f'a frame of {name} within {FIRST_FRAME:g} s', 'none')


@check('camera.sync_shows_step', PROTOCOL, SECTION, 'captures a fresh frame', modes=('puppet',))
def shows_step(peer: Peer) -> None:
    """A sync frame shows the state of its step: other poses, other pixels; the same, the same."""
    name, mj = next(iter(served_cameras(peer))), peer.model.mj
    moved = [float(value) for value in mj.qpos0]
    for joint in range(mj.njnt):
        start = int(mj.jnt_qposadr[joint])
        moved[start + (2 if mj.jnt_type[joint] == 0 else 0)] += 0.4
    still = [float(value) for value in mj.qpos0]
    images = [sync_step(peer, [name], qpos=q)[name]['data'] for q in (still, moved, still)]
    expect(images[0] != images[1], 'another image of another state', 'the same bytes')
    same = sum(a == b for a, b in zip(images[0], images[2], strict=True)) / len(images[0])
    expect(same > 0.9, 'the same image of the same state', f'{same:.0%} of the bytes')


@check('camera.by_frame_id', PLUGIN, 'July 2026: frame_id', modes=DIRECT)
def by_frame_id(peer: Peer) -> None:
    """An image asked for by a frame_id shows that state or a later one, or is absent."""
    if 'frame_id' not in peer.call('step'):
        raise skip('replies have no frame_id: a server of before July 2026')
    name = next(iter(served_cameras(peer)))
    end = time.monotonic() + FIRST_FRAME
    last, found = int(peer.call('step')['frame_id']), 0
    wanted = last
    while found < 3:
        reply = peer.call('step', include_cameras={name: wanted})
        now = field(reply, 'frame_id', 'integer')
        expect(now > last, f'a frame_id above {last}', now)
        last = int(now)
        image = (reply.get('cameras') or {}).get(name)
        if image is not None:
            shown = field(image, 'frame_id', 'integer')
            expect(wanted <= shown <= last, f'a frame_id from {wanted} to {last}', shown)
            field(image, 'sim_time', 'number')
            found, wanted = found + 1, last
        expect(time.monotonic() < end, f'an image of {name} within {FIRST_FRAME:g} s', 'none')
    ahead = peer.call('step', include_cameras={name: {'frame_id': last + 10**9}})
    expect(name not in (ahead.get('cameras') or {}), 'no image of the future', 'one')
    reset = field(peer.call('reset'), 'frame_id', 'integer')
    expect(reset > last, f'a frame_id above {last} after a reset', reset)


@check('camera.depth', PLUGIN, 'cameras', modes=STEPPED)
def depth(peer: Peer) -> None:
    """Depth is float32, positive where there is anything."""
    found = {n: c for n, (_, c) in served_cameras(peer).items() if c['mode'] == 'depth'}
    if not found:
        raise skip('no depth camera')
    for name, camera in found.items():
        data = check_block(name, camera, sync_step(peer, [name])[name])
        values = struct.unpack(f'<{len(data) // 4}f', data)
        seen = [value for value in values if is_number(value)]
        expect(seen and min(seen) >= 0, 'no negative distances', min(seen, default=None))
        expect(max(seen) > 0, 'some distance', max(seen))


@check('camera.unknown', PLUGIN, 'cameras', modes=DIRECT)
def unknown(peer: Peer) -> None:
    """A camera that does not exist is not an error: there is no block of that name."""
    served_cameras(peer)
    reply = peer.ask('step', include_cameras={'no_such_camera': 'latest'})
    if reply.get('op') == 'error':
        raise skip(f'the server refuses it ({reply.get("code")})')
    expect('no_such_camera' not in (reply.get('cameras') or {}), 'no such block', 'one')


@check('camera.stream', PLUGIN, 'cameras', modes=LIVE, transports=ZMQ)
def stream(peer: Peer) -> None:
    """A camera's PUB message is its topic with one trailing blank, and bare pixels."""
    tried = 0
    for name, (prefix, camera) in served_cameras(peer).items():
        if not camera.get('zmq_endpoint'):
            continue
        tried += 1
        port = urlsplit(camera['zmq_endpoint']).port
        with RowListener(f'tcp://{peer.places.host}:{port}', protect=peer.protect) as listener:
            message = listener.receive(FIRST_FRAME)
        if message is None:
            raise Failed(f'a frame of {name} within {FIRST_FRAME:g} s', 'none')
        equal('parts', len(message), 2)
        equal('topic', message[0], f'{prefix}/camera/{name} '.encode())
        width, height = camera['resolution']
        equal(f'bytes of {name}', len(message[1]), int(width * height * 4))
    if not tried:
        raise skip('no camera has an endpoint')


@check('camera.ports', PLUGIN, 'cameras', transports=ZMQ)
def ports(peer: Peer) -> None:
    """Every camera has an endpoint of its own."""
    endpoints = [
        c['zmq_endpoint'] for _, c in served_cameras(peer).values() if c.get('zmq_endpoint')
    ]
    if not endpoints:
        raise skip('no camera has an endpoint')
    close('different endpoints', len(set(endpoints)), len(endpoints), 0)
