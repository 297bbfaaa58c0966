# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The error reply, and the codes that concern every request."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.fields import short
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.peer import pack
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import OPS

GARBAGE = {
    'a reserved msgpack byte': b'\xc1',
    'half a JSON object': b'{"op": "meta"',
    'a msgpack list': b'\x93\x01\x02\x03',
    'half a msgpack map': pack({'op': 'meta', 'more': 'text'})[:-3],
    'text': b'hello',
}


def served(peer: Peer) -> dict[str, dict[str, Any]]:
    """Return the ops that the server lists, by name."""
    ops = field(peer.call('meta'), 'ops', 'array')
    return {str(entry.get('name')): entry for entry in ops if isinstance(entry, dict)}


@check('error.shape', PROTOCOL, 'Errors', 'A failed request returns', world=False)
def shape(peer: Peer) -> None:
    """An error reply has op "error", a code and a message, and nothing else."""
    reply = peer.ask('no_such_op')
    equal('op', reply.get('op'), 'error')
    keys('the error reply', reply, ('op', 'code', 'message'))
    field(reply, 'code', 'text')
    field(reply, 'message', 'string')


@check(
    'error.bad_request', PROTOCOL, 'Errors', 'Frame failed to parse as JSON or msgpack',
    world=False,
)  # fmt: skip
def bad_request(peer: Peer) -> None:
    """A frame that is neither JSON nor a msgpack map answers bad_request; the server continues."""
    for what, frame in GARBAGE.items():
        reply = decode(peer.channel.exchange(frame))
        if reply.get('code') != 'bad_request':
            raise Failed(f'{what} to be refused with bad_request', short(reply))
    peer.call('meta')


@check('error.missing_op', PROTOCOL, 'Errors', 'Request had no op field', world=False)
def missing_op(peer: Peer) -> None:
    """A map without op answers missing_op."""
    for request in ({}, {'session_id': peer.session_id}):
        reply = decode(peer.channel.exchange(pack(request)))
        equal(f'code of {request}', reply.get('code'), 'missing_op')


@check('error.unknown_op', PROTOCOL, 'Errors', 'No handler registered for the op', world=False)
def unknown_op(peer: Peer) -> None:
    """An unknown op answers unknown_op."""
    for op in ('no_such_op', 'STEP', 'step '):
        peer.refused('unknown_op', op)


@check(
    'error.missing_field', PROTOCOL, 'Errors', 'A declared required field was absent',
)  # fmt: skip
def missing_field(peer: Peer) -> None:
    """Every declared required field that is left out answers missing_field, naming the field."""
    for name, entry in served(peer).items():
        required = entry.get('required_fields') or []
        if not required or entry.get('category') != MANAGER_REQUIRED:
            continue
        reply = peer.refused('missing_field', name)
        expect(
            any(name in reply.get('message', '') for name in required),
            f'the message of {name} to name {" or ".join(required)}',
            reply.get('message'),
        )


@check('error.order', PLUGIN, 'order of checks', world=False)
def order(peer: Peer) -> None:
    """session_expired comes before unknown_op, and missing_field before the handler's codes."""
    peer.refused('session_expired', 'no_such_op', session_id='not-a-session')
    if peer.manager:
        peer.refused('missing_field', 'configure_controller', articulation='no_such_robot')


@check(
    'error.not_in_editor', PROTOCOL, 'Errors', 'no registered handler for the current state',
    world=False, stock='a cooked build answers unknown_op',
)  # fmt: skip
def not_in_editor(peer: Peer) -> None:
    """Editor ops of the page that the server has no handler for answer not_in_editor."""
    known = served(peer)
    absent = [
        op
        for op in OPS.values()
        if op.category == EDITOR_ONLY and not op.since and op.name not in known
    ]
    if not absent:
        raise skip('the server serves every editor op')
    for op in absent:
        peer.refused('not_in_editor', op.name)


@check('error.unknown_fields', PLUGIN, 'unknown request fields')
def unknown_fields(peer: Peer) -> None:
    """Unknown request fields are ignored."""
    peer.call('set_paused', paused=False, of_a_later_version={'deep': [1, None, 'x']})
    peer.call('step', client_version='conformance', nothing=None)


@check(
    'error.no_active_manager', PROTOCOL, 'Errors', 'with no active manager', world=False,
)  # fmt: skip
def no_active_manager(peer: Peer) -> None:
    """Without a running world, ops that need one answer no_active_manager."""
    if peer.manager:
        raise skip('a world is running')
    for op in ('step', 'reset', 'forward', 'list_keyframes', 'recording_start'):
        peer.refused('no_active_manager', op)
    peer.refused('missing_field', 'set_paused')
