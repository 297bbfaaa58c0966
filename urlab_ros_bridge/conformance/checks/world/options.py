# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: one check for each field, and the rules of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from urlab_ros_bridge.conformance.check import Check
from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import DIRECT
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import is_number
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

SECTION = 'set_sim_options'
# Field -> what it is set to, given what it is.
NEW: dict[str, Callable[[Any], Any]] = {
    'timestep': lambda old: old * 0.5,
    'gravity': lambda old: [0.1, -0.2, -3.7],
    'wind': lambda old: [0.5, 0.0, -0.25],
    'magnetic': lambda old: [0.0, -0.5, 0.25],
    'density': lambda old: old + 0.5,
    'viscosity': lambda old: old + 0.25,
    'impratio': lambda old: old + 1.0,
    'tolerance': lambda old: 1e-6,
    'iterations': lambda old: old + 11,
    'ls_iterations': lambda old: old + 3,
    'integrator': lambda old: 'rk4' if old != 'rk4' else 'euler',
    'cone': lambda old: 'elliptic' if old != 'elliptic' else 'pyramidal',
    'solver': lambda old: 'cg' if old != 'cg' else 'newton',
    'noslip_iterations': lambda old: old + 2,
    'noslip_tolerance': lambda old: 1e-5,
    'ccd_iterations': lambda old: old + 5,
    'ccd_tolerance': lambda old: 1e-5,
    'enable_multiccd': lambda old: not old,
    'enable_sleep': lambda old: not old,
    'sleep_tolerance': lambda old: old + 0.001,
    'disableflags': lambda old: int(old) ^ (1 << 6),  # mjDSBL_GRAVITY or its neighbour
    'enableflags': lambda old: int(old) ^ (1 << 1),  # mjENBL_ENERGY
    'num_worker_threads': lambda old: old,
}
WORDS = {
    'integrator': ('euler', 'rk4', 'implicit', 'implicitfast'),
    'cone': ('pyramidal', 'elliptic'),
    'solver': ('pgs', 'cg', 'newton'),
}
# One names a bit of the other.
MASKS = {'enable_multiccd': 'disableflags', 'enable_sleep': 'enableflags'}


def options(peer: Peer, **changes: Any) -> dict[str, Any]:
    """Set options and return all of them."""
    return field(peer.call('set_sim_options', options=changes), 'options', 'object')


def same(what: str, got: Any, expected: Any) -> None:
    """Demand equality; numbers may have passed through float32."""
    if is_number(expected):
        expect(is_number(got), f'{what} as a number', got)
        close(what, got, expected, 1e-6 * abs(expected) + 1e-12)
    elif isinstance(expected, list):
        close(what, field({what: got}, what, 'vector', len(expected)), expected, 1e-5)
    else:
        equal(what, got, expected)


def _check_of(name: str) -> Check:
    def run(peer: Peer) -> None:
        before = options(peer)
        old = field(before, name)
        new = NEW[name](old)
        try:
            after = options(peer, **{name: new})
            same(name, field(after, name), new)
            same(f'{name} read back', options(peer)[name], new)
            for other, value in before.items():
                if other not in (name, MASKS.get(name)) and name not in MASKS.values():
                    same(f'{other}, which was not named', after.get(other), value)
        finally:
            peer.ask('set_sim_options', options={name: old})

    run.__doc__ = f'{name} can be set alone; the reply echoes it and the others unchanged.'
    return check(f'options.{name}', PROTOCOL, SECTION, 'override only the listed fields')(run)


CHECKS = tuple(_check_of(name) for name in NEW)


@check('options.read', PROTOCOL, SECTION, 'The reply echoes the resulting opt')
def read(peer: Peer) -> None:
    """An empty patch changes nothing and returns every field of the page."""
    first, second = options(peer), options(peer)
    equal('fields that are missing', sorted(set(NEW) - set(first)), [])
    equal('options', second, first)


@check('options.round_trip', PLUGIN, 'set_sim_options')
def round_trip(peer: Peer) -> None:
    """The options of a reply can be sent back as they are, and change nothing."""
    before = options(peer)
    after = options(peer, **before)
    for name, value in before.items():
        same(name, after.get(name), value)


@check('options.words', PROTOCOL, SECTION, 'implicitfast')
def words(peer: Peer) -> None:
    """integrator, cone and solver take each of their values."""
    before = options(peer)
    try:
        for name, choices in WORDS.items():
            for word in choices:
                equal(name, options(peer, **{name: word})[name], word)
    finally:
        peer.ask('set_sim_options', options={name: before[name] for name in WORDS})


@check('options.bad_value', PROTOCOL, SECTION,
       'unknown integrator / cone / solver string returns bad_value')  # fmt: skip
def bad_value(peer: Peer) -> None:
    """An unknown value answers bad_value, and the option stays."""
    before = options(peer)
    for name in WORDS:
        peer.refused('bad_value', 'set_sim_options', options={name: 'no_such_word'})
        equal(name, options(peer)[name], before[name])


@check('options.missing_field', PROTOCOL, 'Errors', 'A declared required field was absent')
def missing_field(peer: Peer) -> None:
    """Without options the answer is missing_field."""
    peer.refused('missing_field', 'set_sim_options')


@check('options.timestep_acts', PROTOCOL, SECTION, 'timestep in seconds', modes=DIRECT)
def timestep_acts(peer: Peer) -> None:
    """The next step has the new timestep."""
    old = options(peer)['timestep']
    try:
        options(peer, timestep=old * 0.5)
        before = peer.call('step')['time']
        close('time of 4 steps', peer.call('step', n_steps=4)['time'] - before, 2 * old, 1e-7)
    finally:
        peer.ask('set_sim_options', options={'timestep': old})


@check('options.gravity_acts', PROTOCOL, SECTION, 'gravity / wind in m/s^2', modes=DIRECT)
def gravity_acts(peer: Peer) -> None:
    """A free body accelerates as the new gravity says."""
    name, joint = next(iter(peer.model.free_entities.items()), ('', None))
    if joint is None:
        raise skip('the world has no free entity')
    old = options(peer)
    try:
        options(peer, gravity=[0.0, 0.0, 4.0], density=0.0, viscosity=0.0)
        peer.call('reset')
        after = peer.call('step', n_steps=25)
        speed = after['entities'][name]['qvel'][2]
        close(f'vz of {name}', speed, 4.0 * after['time'], 0.02)
    finally:
        kept = {key: old[key] for key in ('gravity', 'density', 'viscosity')}
        peer.ask('set_sim_options', options=kept)
