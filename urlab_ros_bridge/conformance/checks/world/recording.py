# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""recording_start, _stop, _save and _clear."""

from __future__ import annotations

from contextlib import suppress
import json
from pathlib import Path
from pathlib import PurePosixPath
from pathlib import PureWindowsPath
import time
from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'Recording'
FILE = 'urlab_conformance.json'
NAMED_OTHERWISE = 'the session is called "Live Recording"'


def idle(peer: Peer) -> None:
    """End and forget any recording."""
    peer.ask('recording_stop')
    peer.ask('recording_clear')


def record(peer: Peer, steps: int = 20, **start: Any) -> dict[str, Any]:
    """Record some direct steps and return the reply to recording_stop."""
    idle(peer)
    peer.call('recording_start', **start)
    for _ in range(steps // 5):
        peer.call('step', n_steps=5)
    return peer.call('recording_stop')


def save(peer: Peer, path: str = FILE) -> str:
    """Save the recording and return where."""
    reply = peer.call('recording_save', 20.0, path=path, overwrite=True)
    return field(reply, 'absolute_path', 'text')


def remove(peer: Peer, path: str) -> None:
    """Delete a file that the server has written, where it is on this machine."""
    if peer.places.local:
        with suppress(OSError):
            Path(path).unlink()


@check('recording.start', PROTOCOL, SECTION, 'recording_start_ok', modes=DIRECT,
       stock=NAMED_OTHERWISE)  # fmt: skip
def start(peer: Peer) -> None:
    """recording_start answers with the session name "live" and echoes max_duration_s."""
    idle(peer)
    reply = peer.call('recording_start', name='ep_1234', max_duration_s=3600)
    equal('name', reply.get('name'), 'live')
    close('max_duration_s', field(reply, 'max_duration_s', 'number'), 3600.0, 1e-6)
    idle(peer)


@check('recording.already_active', PROTOCOL, SECTION, 'recording_already_active', modes=DIRECT)
def already_active(peer: Peer) -> None:
    """A second recording_start answers recording_already_active, and the first continues."""
    idle(peer)
    peer.call('recording_start')
    peer.call('step', n_steps=4)
    peer.refused('recording_already_active', 'recording_start')
    peer.call('step', n_steps=4)
    equal('frame_count', peer.call('recording_stop')['frame_count'], 8)


@check('recording.stop', PROTOCOL, SECTION, 'one frame per mj_step', modes=DIRECT,
       stock='the engine loop adds frames while idle')  # fmt: skip
def stop(peer: Peer) -> None:
    """There is one frame for every sub-step, and sim_duration_s is their span."""
    reply = record(peer, 20)
    equal('frame_count', field(reply, 'frame_count', 'integer'), 20)
    close('sim_duration_s', field(reply, 'sim_duration_s', 'number'), 19 * peer.timestep, 1e-6)


@check('recording.name', PROTOCOL, SECTION, 'recording_stop_ok', modes=DIRECT,
       stock=NAMED_OTHERWISE)  # fmt: skip
def name(peer: Peer) -> None:
    """recording_stop answers with the session name "live"."""
    equal('name', record(peer, 5).get('name'), 'live')


@check('recording.live', PROTOCOL, SECTION, 'regardless of mode', modes=LIVE)
def live(peer: Peer) -> None:
    """In live mode frames come by themselves, one for every timestep."""
    idle(peer)
    peer.call('recording_start')
    time.sleep(0.1)
    reply = peer.call('recording_stop')
    frames, span = reply['frame_count'], reply['sim_duration_s']
    expect(frames >= 2, 'frames', frames)
    close('frames', frames, span / peer.timestep + 1, 1.01)


@check('recording.not_active', PROTOCOL, 'Errors', 'with none active', modes=DIRECT,
       stock='recording_save without frames answers path_not_writable')  # fmt: skip
def not_active(peer: Peer) -> None:
    """recording_stop and recording_save without a recording answer recording_not_active."""
    idle(peer)
    peer.refused('recording_not_active', 'recording_stop')
    peer.refused('recording_not_active', 'recording_save', path=FILE)


@check('recording.clear', PROTOCOL, SECTION, 'recording_clear_ok', modes=DIRECT)
def clear(peer: Peer) -> None:
    """recording_clear forgets the frames; a running recording continues."""
    idle(peer)
    peer.call('recording_start')
    peer.call('step', n_steps=5)
    peer.call('recording_clear')
    peer.call('step', n_steps=3)
    equal('frame_count', peer.call('recording_stop')['frame_count'], 3)


@check('recording.window', PLUGIN, 'recording: max_duration_s', modes=DIRECT)
def window(peer: Peer) -> None:
    """max_duration_s keeps the latest seconds; recording does not end by itself."""
    reply = record(peer, 50, max_duration_s=10.0 * peer.timestep)
    expect(9 <= reply['frame_count'] <= 12, 'about 11 frames', reply['frame_count'])


@check('recording.save', PROTOCOL, SECTION, 'always returns the resolved absolute path',
       modes=DIRECT)  # fmt: skip
def save_bare(peer: Peer) -> None:
    """A bare name is saved under the folder of the replays; the reply has the absolute path."""
    record(peer)
    path = save(peer)
    kind = PureWindowsPath if '\\' in path or path[1:2] == ':' else PurePosixPath
    expect(kind(path).is_absolute(), 'an absolute path', path)
    equal('file name', kind(path).name, FILE)
    equal('folder', kind(path).parent.name, 'Replays')
    remove(peer, path)


@check('recording.absolute_path', PROTOCOL, SECTION, 'an absolute path passes through',
       modes=DIRECT, stock='nothing is written at an absolute path')  # fmt: skip
def save_absolute(peer: Peer) -> None:
    """An absolute path is written as it is (here: beside the bare one, which is allowed)."""
    record(peer)
    first = save(peer)
    path = first.removesuffix('.json') + '_absolute.json'
    try:
        equal('absolute_path', save(peer, path), path)
        if peer.places.local:
            expect(Path(path).is_file(), f'a file {path}', 'none')
    finally:
        remove(peer, first)
        remove(peer, path)


@check('recording.file', PROTOCOL, SECTION, 'Recordings save as .json', modes=DIRECT)
def file(peer: Peer) -> None:
    """The file is JSON with a frame for every sub-step, joints by full name (stock format)."""
    if not peer.places.local:
        raise skip('the server is on another machine')
    record(peer)
    path = save(peer)
    try:
        content = json.loads(Path(path).read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise Failed('a readable JSON file', str(error)) from None
    finally:
        remove(peer, path)
    frames = field(content, 'Frames', 'array')
    equal('frames', len(frames), 20)
    times = [field(frame, 'timestamp', 'number') for frame in frames]
    expect(times == sorted(set(times)), 'times that grow', times)
    joints = field(frames[-1], 'jointStates', 'object')
    mj = peer.model.mj
    equal('joints', sorted(joints), sorted(peer.model.name('joint', i) for i in range(mj.njnt)))
    for state in joints.values():
        field(state, 'qPos', 'vector')
        field(state, 'qVel', 'vector')


@check('recording.path_not_writable', PROTOCOL, SECTION, 'path_not_writable', modes=DIRECT,
       stock='every path is written to the folder of the replays')  # fmt: skip
def path_not_writable(peer: Peer) -> None:
    """A target that cannot be written answers path_not_writable."""
    record(peer, 5)
    peer.refused('path_not_writable', 'recording_save', path='/proc/no/such/folder/x.json')
