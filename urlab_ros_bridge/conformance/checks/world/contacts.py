# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""get_contacts."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import PUPPET
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import keys
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'get_contacts'
NAMES = ('geom1', 'geom2', 'body1', 'body2')


def touching(peer: Peer, **request: Any) -> dict[str, Any]:
    """Return the contacts after things have settled a little."""
    peer.call('step', n_steps=50)
    reply = peer.call('get_contacts', **request)
    if not field(reply, 'contacts', 'array'):
        raise skip('nothing touches anything')
    return reply


@check('contacts.fields', PROTOCOL, SECTION, 'Snapshots active MuJoCo contacts', modes=DIRECT)
def fields(peer: Peer) -> None:
    """A contact has names, pos, normal, dist and force; n_contacts counts them."""
    reply = touching(peer)
    contacts = reply['contacts']
    equal('n_contacts', field(reply, 'n_contacts', 'integer'), len(contacts))
    field(reply, 'truncated', 'bool')
    for contact in contacts:
        keys('a contact', contact, (*NAMES, 'pos', 'normal', 'dist', 'force'))
        for name in NAMES:
            field(contact, name, 'string')
        field(contact, 'pos', 'vector', 3)
        field(contact, 'dist', 'number')
        field(contact, 'force', 'vector', 6)
        length = sum(value * value for value in field(contact, 'normal', 'vector', 3))
        close('length of normal', length, 1.0, 1e-4)


@check('contacts.cap', PROTOCOL, SECTION, 'caps at max_contacts (default 64)', modes=DIRECT)
def cap(peer: Peer) -> None:
    """max_contacts cuts the list and sets truncated; enough room leaves it unset."""
    count = len(touching(peer, max_contacts=1000)['contacts'])
    if count < 2:
        raise skip('only one contact')
    for limit, cut in ((1, True), (count - 1, True), (count, False), (count + 1, False)):
        reply = peer.call('get_contacts', max_contacts=limit)
        equal(f'contacts of at most {limit}', len(reply['contacts']), min(limit, count))
        equal(f'truncated at {limit} of {count}', field(reply, 'truncated', 'bool'), cut)
    equal('contacts by default', len(peer.call('get_contacts')['contacts']), min(count, 64))


@check('contacts.filter', PROTOCOL, SECTION, 'AND-matches exact compiled names', modes=DIRECT)
def filters(peer: Peer) -> None:
    """filter keeps what matches every name it gives, exactly."""
    contacts = touching(peer, max_contacts=1000)['contacts']
    chosen = next((c for c in contacts if c['geom1'] and c['body2']), None)
    if chosen is None:
        raise skip('no contact has names')
    for wanted in (('body1',), ('geom1', 'body2'), NAMES):
        part = {name: chosen[name] for name in wanted if chosen[name]}
        got = peer.call('get_contacts', max_contacts=1000, filter=part)['contacts']
        matching = [c for c in contacts if all(c[n] == v for n, v in part.items())]
        equal(f'contacts that match {part}', len(got), len(matching))
        for contact in got:
            equal('names', {name: contact[name] for name in part}, part)
    for wrong in (chosen['geom1'][:-1] or 'x', 'no_such_geom'):
        got = peer.call('get_contacts', filter={'geom1': wrong, 'body2': chosen['body2']})
        equal(f'contacts of geom1 {wrong!r}', got['contacts'], [])


@check('contacts.values', PROTOCOL, SECTION, 'from mj_contactForce in the contact frame',
       modes=PUPPET)  # fmt: skip
def values(peer: Peer) -> None:
    """Names, position, normal, distance and force are MuJoCo's for the pushed state."""
    qpos = [float(value) for value in peer.model.mj.qpos0]
    for joint in peer.model.free_entities.values():
        qpos[joint.q + 2] -= 0.002
    push = {'qpos': qpos, 'qvel': [0.0] * peer.model.mj.nv, 'ctrl': [0.0] * peer.model.mj.nu}
    peer.call('step', **push)
    got = peer.call('get_contacts', max_contacts=1000)['contacts']
    data = peer.model.settled(qpos)
    equal('contacts', len(got), data.ncon)
    if not got:
        raise skip('nothing touches anything in the default state')
    for index, contact in enumerate(got):
        theirs = data.contact[index]
        equal('geom2', contact['geom2'], peer.model.name('geom', int(theirs.geom[1])))
        body = int(peer.model.mj.geom_bodyid[int(theirs.geom[0])])
        equal('body1', contact['body1'], peer.model.name('body', body))
        close('pos', contact['pos'], theirs.pos.tolist(), 1e-5)
        close('normal', contact['normal'], theirs.frame[:3].tolist(), 1e-5)
        close('dist', contact['dist'], float(theirs.dist), 1e-6)
        force = peer.model.contact_force(data, index)
        close('force', contact['force'], force, 1e-2 + 0.02 * max(map(abs, force)))
    deepest = min(contact['dist'] for contact in got)
    expect(deepest < 0, 'a negative dist where bodies penetrate', deepest)
