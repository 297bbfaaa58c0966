# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""replay_load, _list_sessions, _set_active, _start and _stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import LIVE
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.world.recording import FILE
from urlab_ros_bridge.conformance.checks.world.recording import idle
from urlab_ros_bridge.conformance.checks.world.recording import NAMED_OTHERWISE
from urlab_ros_bridge.conformance.checks.world.recording import record
from urlab_ros_bridge.conformance.checks.world.recording import remove
from urlab_ros_bridge.conformance.checks.world.recording import save
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect

SECTION = 'Replay'
STEM = FILE.removesuffix('.json')


@contextmanager
def saved(peer: Peer) -> Iterator[str]:
    """Record, save and load a file for a while; yield its session name."""
    record(peer)
    path = save(peer)
    try:
        yield field(peer.call('replay_load', 20.0, path=FILE), 'name', 'text')
    finally:
        remove(peer, path)
        peer.ask('replay_stop')
        peer.ask('replay_set_active', name='live')
        idle(peer)


@check('replay.load', PROTOCOL, SECTION, 'replay_load_ok', modes=DIRECT)
def load(peer: Peer) -> None:
    """A loaded session is called like the file without suffix, and is listed."""
    with saved(peer) as name:
        equal('name', name, STEM)
        sessions = field(peer.call('replay_list_sessions'), 'sessions', 'array')
        expect(name in sessions, f'{name} among the sessions', sessions)


@check('replay.list', PROTOCOL, SECTION, 'replay_list_sessions_ok', modes=DIRECT,
       stock=NAMED_OTHERWISE)  # fmt: skip
def list_sessions(peer: Peer) -> None:
    """The recording in memory is listed as "live"."""
    record(peer)
    sessions = field(peer.call('replay_list_sessions'), 'sessions', 'array')
    expect('live' in sessions, 'live among the sessions', sessions)


@check('replay.path_not_readable', PROTOCOL, SECTION, 'path_not_readable', modes=DIRECT)
def path_not_readable(peer: Peer) -> None:
    """A file that is not there answers path_not_readable."""
    peer.refused('path_not_readable', 'replay_load', path='no_such_recording.json')


@check('replay.session_not_found', PROTOCOL, SECTION, 'replay_session_not_found', modes=DIRECT)
def session_not_found(peer: Peer) -> None:
    """replay_set_active of a session that is not loaded answers replay_session_not_found."""
    peer.refused('replay_session_not_found', 'replay_set_active', name='no_such_session')
    peer.refused('missing_field', 'replay_set_active')


@check('replay.requires_stepped', PROTOCOL, SECTION, 'issued while in live', modes=LIVE)
def requires_stepped(peer: Peer) -> None:
    """replay_start in live mode answers replay_requires_stepped."""
    peer.refused('replay_requires_stepped', 'replay_start')


@check('replay.start', PROTOCOL, SECTION, 'replay_start_ok', modes=DIRECT)
def start(peer: Peer) -> None:
    """replay_start reports which session plays and how many frames it has."""
    with saved(peer) as name:
        peer.call('replay_set_active', name=name)
        reply = peer.call('replay_start')
        equal('active_session', reply.get('active_session'), name)
        equal('total_frames', field(reply, 'total_frames', 'integer'), 20)
        peer.call('replay_stop')


@check('replay.plays', PROTOCOL, SECTION, 'Plays a saved .json recording', modes=DIRECT,
       stock='step times out while a replay plays')  # fmt: skip
def plays(peer: Peer) -> None:
    """During a replay steps show the recorded states in order, and afterwards physics again."""
    with saved(peer) as name:
        peer.call('reset')
        states = [peer.call('step', n_steps=1)['per_articulation'] for _ in range(20)]
        peer.call('reset')
        peer.call('replay_set_active', name=name)
        peer.call('replay_start')
        shown = [peer.call('step', n_steps=1)['per_articulation'] for _ in range(20)]
        for prefix in states[0]:
            got = [block[prefix]['qpos'] for block in shown]
            wanted = [block[prefix]['qpos'] for block in states]
            # The first step may show the first frame or go beyond it.
            if any(abs(a - b) > 1e-6 for a, b in zip(got[0], wanted[0], strict=True)):
                got, wanted = got[:-1], wanted[1:]
            for index, (a, b) in enumerate(zip(got, wanted, strict=True)):
                close(f'qpos of {prefix} in step {index}', a, b, 1e-6)
        peer.call('replay_stop')
        before = peer.call('step')['time']
        close('time of a step afterwards', peer.call('step')['time'] - before, peer.timestep, 1e-7)
