# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The whole suite against every bundled world, with every option that changes what is on the wire.

The short form, without the checks that wait, has every world, mode, transport and option at least
once, and what is the same in every world on that of the suite alone; with ``--long`` every check
is tried on every world with every option.
"""

from itertools import cycle

import pytest

from urlab_ros_bridge import models
from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance.runner import FAIL
from urlab_ros_bridge.conformance.runner import PASS

WORLDS = models.world_names()
# Options of `urlab server` after which a client sees something else.
OPTIONS = {
    'live': {'step_mode': 'live'},
    'direct': {'step_mode': 'direct'},
    'puppet': {'step_mode': 'puppet'},
    'paused': {'paused': True},
    'editor': {'editor': True},
    'no_shm': {'shm': False},
    'no_cameras': {'cameras': 'off'},
    'cameras_on': {'cameras': 'on'},
    'absolute_paths': {'allow_absolute_paths': True},
    'slow': {'speed': 0.5},
}
CHECKS = tuple(all_checks())
# What a world may break.  Options and encodings are the same in every one, and images are large.
SAME_EVERYWHERE = ('camera', 'options', 'encoding')
OF_WORLDS = tuple(c for c in CHECKS if c.name.partition('.')[0] not in SAME_EVERYWHERE)


def failures(peer, plan):
    results = list(run(peer, plan))
    assert sum(result.outcome == PASS for result in results) > 30
    broken = [result for result in results if result.outcome == FAIL]
    return '\n'.join(f'{r.transport} {r.name}: {r.expected}; got {r.got}' for r in broken)


# A world each, so that every mode meets every transport.
SHARES = cycle([('live', 'zmq'), ('direct', 'shm'), ('live', 'shm'), ('direct', 'zmq')])
# What does not exclude each other is tried at once; test_suite has the modes.
TOGETHER = ('paused no_shm no_cameras', 'editor cameras_on absolute_paths slow')


def options_of(names):
    return {name: value for option in names.split() for name, value in OPTIONS[option].items()}


@pytest.mark.parametrize(('world', 'share'), list(zip(WORLDS, SHARES, strict=False)))
def test_every_bundled_world_follows_the_rules(start_server, connect, world, share):
    peer = connect(start_server(model=None, world=world))
    mode, transport = share
    plan = Plan(OF_WORLDS, modes=(mode,), transports=(transport,), quick=True)
    assert failures(peer, plan) == ''


@pytest.mark.parametrize('options', TOGETHER)
def test_every_option_leaves_the_rules_in_force(start_server, connect, options):
    given = options_of(options)
    peer = connect(start_server(**given))
    modes = (given.get('step_mode', 'live'),)
    assert failures(peer, Plan(CHECKS, modes, transports=('zmq',), quick=True)) == ''


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize('option', ['none', *OPTIONS])
@pytest.mark.parametrize('world', WORLDS)
def test_every_rule_on_every_world_with_every_option(start_server, connect, world, option):
    peer = connect(start_server(model=None, world=world, **OPTIONS.get(option, {})))
    assert failures(peer, Plan(CHECKS)) == ''
