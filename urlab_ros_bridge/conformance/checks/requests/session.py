# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Session lifecycle: which clients may call, and what a new hello changes."""

from __future__ import annotations

import re

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import NETWORKING
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.requests.errors import served
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.peer import pack
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

LIFE = 'Session lifecycle'
UUID4 = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}')
ZMQ = ('zmq',)


@check('session.uuid', PROTOCOL, 'hello', 'uuid-v4', transports=ZMQ, world=False)
def uuid(peer: Peer) -> None:
    """session_id is a version 4 UUID, another one for every hello."""
    ids = [field(peer.hello(), 'session_id', 'text') for _ in range(2)]
    for session in ids:
        expect(UUID4.fullmatch(session), 'a lower-case uuid-v4', session)
    expect(ids[0] != ids[1], 'two hellos to give two ids', ids[0])


@check(
    'session.pre_session', PROTOCOL, LIFE, 'hello and meta are the only pre-session ops',
    transports=ZMQ, world=False,
)  # fmt: skip
def pre_session(peer: Peer) -> None:
    """hello and meta need no session_id."""
    for request, op in (({'op': 'meta'}, 'meta_ok'), ({'op': 'hello'}, 'hello_ok')):
        equal('op', decode(peer.zmq.exchange(pack(request))).get('op'), op)


@check(
    'session.required', PROTOCOL, LIFE, 'Every other request carries the session_id',
    world=False,
)  # fmt: skip
def required(peer: Peer) -> None:
    """Every op that meta lists answers session_expired without a session_id."""
    for name in served(peer):
        reply = decode(peer.channel.exchange(pack({'op': name})))
        if reply.get('code') != 'session_expired':
            raise Failed(f'{name} without session_id: session_expired', reply.get('code'))


@check(
    'session.mismatch', PROTOCOL, LIFE, 'a mismatch returns session_expired', world=False,
)  # fmt: skip
def mismatch(peer: Peer) -> None:
    """A session_id that is null, empty, foreign or no text answers session_expired."""
    foreign = '00000000-0000-4000-8000-000000000000'
    for session in (None, '', foreign, peer.session_id.upper() + 'x', 7, ['a']):
        peer.refused('session_expired', 'set_paused', session_id=session, paused=False)


@check('session.replaced', PROTOCOL, 'Errors', 'does not match the active session', world=False)
def replaced(peer: Peer) -> None:
    """A new hello makes the session before it expire, and the new one works."""
    old = peer.session_id
    peer.hello()
    peer.refused('session_expired', 'set_paused', session_id=old, paused=False)
    if peer.manager:
        peer.call('set_paused', paused=False)


@check(
    'session.expired_is_inert', PROTOCOL, LIFE, 'a mismatch returns session_expired',
    modes=DIRECT,
)  # fmt: skip
def expired_is_inert(peer: Peer) -> None:
    """What an expired session asks for is not done."""
    peer.need_free_mode()
    old = peer.session_id
    peer.hello()
    before = peer.call('forward')['time']
    peer.ask('step', session_id=old, n_steps=5)
    peer.ask('set_mode', session_id=old, mode='puppet')
    close('time after a step of an expired session', peer.call('forward')['time'], before, 1e-12)
    equal('mode', peer.call('set_mode', mode='direct').get('previous_mode'), 'direct')


@check('session.level_of_hello', PROTOCOL, 'hello', 'observation level', modes=DIRECT)
def level_of_hello(peer: Peer) -> None:
    """The observation level of a hello holds for the replies of its session."""
    for level, extra in (('minimal', ()), ('standard', ('ctrl', 'act', 'sensors'))):
        peer.hello(observations=level)
        for prefix, block in field(peer.call('step'), 'per_articulation', 'object').items():
            if level == 'minimal':
                keys(f'{prefix} at {level}', block, ('qpos', 'qvel'), ('twist', 'actions'))
            for name in extra:
                field(block, name)


@check('session.hello_keeps_state', PLUGIN, 'hello', modes=DIRECT)
def hello_keeps_state(peer: Peer) -> None:
    """A hello changes neither mode nor pause nor physics, and counts steps from 0 again."""
    peer.need_free_mode()
    before = peer.call('step', n_steps=7)
    peer.hello()
    equal('mode', peer.call('set_mode', mode='direct').get('previous_mode'), 'direct')
    after = peer.call('forward')
    close('time', after['time'], before['time'], 1e-12)
    equal('step', after['step'], 0)
    equal('step after 3 steps', peer.call('step', n_steps=3)['step'], 3)


@check(
    'session.auto_promotes', NETWORKING, 'Step modes',
    'Auto-promotes to direct on the first handshake', transports=ZMQ,
    stock='auto stays live until the client sends set_mode',
)  # fmt: skip
def auto_promotes(peer: Peer) -> None:
    """The first plain hello of a server in auto mode makes it direct."""
    if peer.stop is None:
        raise skip('only a server that was just started can show it')
    first, second = peer.first_times
    close('time between the first two steps', second - first, peer.timestep, 1e-9)
