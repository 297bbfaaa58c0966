# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""meta: the live op catalogue."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.checks.requests.errors import served
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import KINDS
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import NO_MANAGER
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.ops import OPS

CATEGORIES = (EDITOR_ONLY, MANAGER_REQUIRED, NO_MANAGER)
_KIND_OF = {'float': 'number', 'int': 'integer'}
# Requests without effect, to compare replies with what meta declares.
HARMLESS: dict[str, dict[str, Any]] = {
    'step': {},
    'reset': {},
    'forward': {},
    'set_mode': {'mode': 'direct'},
    'set_paused': {'paused': False},
    'set_sim_options': {'options': {}},
    'set_sim_speed': {'percent': 100.0},
    'set_control_source': {'source': 'zmq'},
    'get_contacts': {},
    'list_keyframes': {},
    'recording_start': {},
    'recording_stop': {},
    'recording_clear': {},
    'replay_list_sessions': {},
    'replay_stop': {},
}


def catalogued(peer: Peer, wanted: list[Op]) -> None:
    """Demand that ops are listed as the page has them."""
    known = served(peer)
    for op in wanted:
        entry = known.get(op.name)
        if entry is None:
            raise Failed(f'{op.name} in meta', 'it is not listed')
        equal(f'category of {op.name}', entry.get('category'), op.category)
        equal(f'namespace of {op.name}', entry.get('namespace'), op.namespace)
        required = sorted(entry.get('required_fields') or [])
        equal(f'required_fields of {op.name}', required, sorted(op.required))


@check('meta.entries', PROTOCOL, 'meta', 'Each entry carries name, category', world=False)
def entries(peer: Peer) -> None:
    """An entry has name, category, namespace, and lists of texts for its fields."""
    ops = field(peer.call('meta'), 'ops', 'array')
    for entry in ops:
        name = field(entry, 'name', 'text')
        category = field(entry, 'category', 'text')
        expect(category in CATEGORIES, f'a category for {name}', category)
        field(entry, 'namespace', 'string')
        for key in ('required_fields', 'reply_fields'):
            if key in entry:
                texts = field(entry, key, 'array')
                expect(all(isinstance(t, str) for t in texts), f'texts in {key}', texts)
    names = [entry['name'] for entry in ops]
    equal('names that are listed twice', sorted({n for n in names if names.count(n) > 1}), [])


@check('meta.catalogue', PLUGIN, 'op registry', world=False)
def catalogue(peer: Peer) -> None:
    """Every op of the page that needs a world is listed, with category and required fields."""
    needed = [op for op in OPS.values() if op.category == MANAGER_REQUIRED]
    catalogued(peer, [op for op in needed if not (op.extension or op.since)])


@check('meta.reply_fields', PROTOCOL, 'meta', 'declared at registration', modes=DIRECT)
def reply_fields(peer: Peer) -> None:
    """Replies have the fields that meta declares, of the declared types ("?" may be absent)."""
    tried = 0
    known = served(peer)
    for name, request in HARMLESS.items():
        declared = (known.get(name) or {}).get('reply_fields')
        if not declared:
            continue
        reply, tried = peer.ask(name, **request), tried + 1
        if reply.get('code') == 'mode_locked_by_server':
            continue
        equal('op', reply.get('op'), f'{name}_ok')
        for text in declared:
            key, _, kind = text.partition(':')
            optional, kind = kind.endswith('?'), kind.removesuffix('?')
            if optional and key not in reply:
                continue
            kind = _KIND_OF.get(kind, kind)
            if kind not in KINDS:
                raise Failed(f'a known type for {name}.{key}', kind)
            field(reply, key, kind)
    if not tried:
        raise skip('meta declares no reply fields')
