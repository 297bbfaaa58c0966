# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Editor ops, where they are served.

Only those that change nothing of a user's scene are called; begin_pie only where nothing plays.
"""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.requests.errors import served
from urlab_ros_bridge.conformance.checks.requests.meta import catalogued
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS

SECTION = 'Editor ops'
ZMQ = ('zmq',)
STATES = ('off', 'compiling', 'compile_failed', 'timeout', 'ready')
# Op -> request; none of them changes the scene.
READ_ONLY: dict[str, dict[str, Any]] = {
    'pie_status': {},
    'current_level': {},
    'snapshot': {},
    'list_actors': {},
    'find_actors': {},
    'list_blueprints': {},
    'get_camera': {},
}
_KINDS = {'string': 'string', 'array': 'array', 'bool': 'bool', 'object': 'object',
          'float': 'number', 'int': 'integer'}  # fmt: skip


def _served(peer: Peer) -> dict[str, dict]:
    found = {n: e for n, e in served(peer).items() if e.get('category') == EDITOR_ONLY}
    if not found:
        raise skip('the server serves no editor ops')
    return found


@check('editor.catalogue', PROTOCOL, SECTION, 'Editor-only ops (category editor_only)',
       transports=ZMQ, world=False)  # fmt: skip
def catalogue(peer: Peer) -> None:
    """Every editor op of the page is listed, with namespace and required fields."""
    _served(peer)
    catalogued(peer, [op for op in OPS.values() if op.category == EDITOR_ONLY and not op.since])


@check('editor.missing_field', PROTOCOL, 'Errors', 'A declared required field was absent',
       transports=ZMQ, world=False)  # fmt: skip
def missing_field(peer: Peer) -> None:
    """Editor ops without their required fields answer missing_field."""
    for name, entry in _served(peer).items():
        if entry.get('required_fields'):
            peer.refused('missing_field', name)


@check('editor.replies', PLUGIN, 'editor ops', transports=ZMQ, world=False)
def replies(peer: Peer) -> None:
    """Ops that only read answer with the reply fields of the catalogue."""
    known = _served(peer)
    for name, request in READ_ONLY.items():
        if name not in known:
            continue
        reply = peer.ask(name, **request)
        if name == 'get_camera' and reply.get('code') == 'no_viewport':
            continue
        equal('op', reply.get('op'), f'{name}_ok')
        for text in OPS[name].reply:
            key, _, kind = text.partition(':')
            if not (kind.endswith('?') and key not in reply):
                field(reply, key, _KINDS[kind.removesuffix('?')])


@check('editor.pie_status', PROTOCOL, SECTION, 'state enum', transports=ZMQ, world=False)
def pie_status(peer: Peer) -> None:
    """pie_status has a state of the enumeration and a compile_error text."""
    if 'pie_status' not in _served(peer):
        raise skip('pie_status is not served')
    reply = peer.call('pie_status')
    expect(reply.get('state') in STATES, f'one of {", ".join(STATES)}', reply.get('state'))
    field(reply, 'compile_error', 'string')
    ready = reply['state'] == 'ready'
    equal('state ready', ready, peer.hello().get('manager_present'))


@check('editor.debug', PROTOCOL, SECTION, 'draw_marker', transports=ZMQ, world=False)
def debug(peer: Peer) -> None:
    """Debug drawing answers, and clear_markers takes it away."""
    if 'draw_marker' not in _served(peer):
        raise skip('draw_marker is not served')
    peer.call('draw_marker', location=[0, 0, 1], color=[1, 0, 0])
    peer.call('draw_line', **{'from': [0, 0, 0], 'to': [0, 0, 1], 'color': [0, 1, 0]})
    peer.call('clear_markers')


@check('editor.begin_pie', PROTOCOL, SECTION, 'embeds a fresh handshake-shaped',
       transports=ZMQ, world=False)  # fmt: skip
def begin_pie(peer: Peer) -> None:
    """begin_pie reports ready and embeds a handshake of the same session, or gives the reason."""
    if 'begin_pie' not in _served(peer):
        raise skip('begin_pie is not served')
    if peer.manager:
        raise skip('a world is running; it is not taken down')
    reply = peer.call('begin_pie', 60.0)
    try:
        expect(reply.get('state') in STATES, f'one of {", ".join(STATES)}', reply.get('state'))
        field(reply, 'compile_error', 'string')
        if reply['state'] != 'ready':
            raise skip(f'begin_pie: {reply["state"]} {reply["compile_error"]}')
        payload = field(reply, 'handshake_payload', 'object')
        equal('op', payload.get('op'), 'hello_ok')
        equal('session_id', payload.get('session_id'), peer.session_id)
        equal('manager_present', payload.get('manager_present'), True)
        field(payload, 'mjb', 'bytes')
        peer.call('step')
    finally:
        peer.ask('stop_pie', 30.0)
    peer.refused('no_active_manager', 'step')
