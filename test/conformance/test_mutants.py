# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every fault is found by the check that is named for it, and by none about other things."""

from dataclasses import replace

from all_mutants import MUTANTS
from faults_narrow import FAULTS
from proxy import Fault
from proxy import Proxy
from proxy import SpoiledChannel
import pytest

from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance.runner import FAIL

CHECKS = all_checks()
# Streams and whatever waits for them need sockets and running time.
STREAMED = (
    'rows', 'camera', 'control', 'info', 'server', 'shm', 'recording.live', 'step.live',
    'set_paused.stops_time', 'rows.stop',
)  # fmt: skip
# What is tried on a server with a fault in its streams, beside the check that must find it.
BESIDE = (
    'rows.two_parts', 'rows.topics', 'rows.joint', 'rows.snapshot', 'rows.stop', 'camera.latest',
    'error', 'observe',
)  # fmt: skip
# These take most of the time, so they are tried on faults that could concern them.
HEAVY = ('encoding', 'replay', 'recording', 'step.direct.stands_still')
# Every fault is tried on these; on all the others with --long.
COMMON = ('error', 'hello', 'observe', 'stamp', 'step')
REQUESTS = [m for m in MUTANTS if m.caught_by.partition('.')[0] not in STREAMED]
STREAMS = [m for m in MUTANTS if m not in REQUESTS]


def plan_of(*patterns):
    chosen = [c for c in CHECKS if any(c.matches(pattern) for pattern in patterns)]
    return Plan(tuple(chosen), transports=('zmq',), quick=True)


ALL_REQUESTS = Plan(
    tuple(c for c in CHECKS if not any(c.matches(pattern) for pattern in STREAMED)),
    transports=('zmq',),
    quick=True,
)


def plan_for(mutant, whole):
    """Return all checks, or without `whole` those of the same groups and the most common ones."""
    near = {name.partition('.')[0] for name in (mutant.caught_by, *mutant.related)}
    spared = [name for name in HEAVY if name.partition('.')[0] not in near]
    chosen = [c for c in ALL_REQUESTS.checks if not any(c.matches(name) for name in spared)]
    if not whole:
        groups = {*near, *COMMON}
        chosen = [c for c in chosen if c.name.partition('.')[0] in groups]
    return replace(ALL_REQUESTS, checks=tuple(chosen))


def failures(peer, plan):
    results = run(peer, plan)
    return {r.check.name: (r.expected, r.got) for r in results if r.outcome == FAIL}


def judge(mutant, found):
    assert mutant.caught_by in found
    related = (mutant.caught_by, *mutant.related)
    strangers = {
        name: said
        for name, said in found.items()
        if not any(name == word or name.startswith(f'{word}.') for word in related)
    }
    assert strangers == {}


@pytest.fixture
def spoiled(dispatch):
    """Return a factory of peers before a dispatcher with a fault; then repair what it left."""

    def start(fault):
        peer = Peer(Places('127.0.0.1', 'tcp://127.0.0.1:1', '', '', ''))
        peer.zmq.close()
        peer.zmq = peer.channel = SpoiledChannel(dispatch, fault)
        peer.connect()
        return peer

    sound = start(Fault())
    options = sound.call('set_sim_options', options={})['options']
    gains = sound.call('configure_controller', articulation='arm', params={})['params']
    yield start
    sound.hello()
    sound.call('set_sim_options', options=options)
    sound.call('configure_controller', articulation='arm', params=gains)
    sound.call('set_mocap_pose', body='target', pos=[0.5, 1.5, 0.6], quat=[1, 0, 0, 0])
    sound.leave()


def test_a_sound_dispatcher_has_no_faults(spoiled):
    assert failures(spoiled(Fault()), ALL_REQUESTS) == {}


def test_a_sound_stream_has_no_faults(sound, connect):
    with Proxy(sound, Fault(row=lambda *parts: [parts])) as proxy:
        assert failures(connect(proxy.places), plan_of(*BESIDE, 'rows', 'camera')) == {}


@pytest.mark.parametrize('mutant', REQUESTS, ids=lambda mutant: mutant.name)
def test_fault_of_requests_is_found(spoiled, mutant, request):
    plan = plan_for(mutant, whole=request.config.getoption('long'))
    judge(mutant, failures(spoiled(mutant.make()), plan))


@pytest.mark.parametrize(('name', 'fault'), FAULTS, ids=[name for name, _ in FAULTS])
def test_a_check_fails_where_its_rule_is_broken(spoiled, name, fault):
    (check,) = [check for check in CHECKS if check.name == name]
    plan = Plan((check,), transports=('zmq',))
    found = failures(spoiled(fault()), plan)
    assert set(found) == {name}


@pytest.mark.parametrize('mutant', STREAMS, ids=lambda mutant: mutant.name)
def test_fault_of_streams_is_found(sound, connect, mutant):
    with Proxy(sound, mutant.make()) as proxy:
        judge(mutant, failures(connect(proxy.places), plan_of(*BESIDE, mutant.caught_by)))


def test_every_mutant_names_a_check():
    names = {check.name for check in CHECKS}
    assert {mutant.caught_by for mutant in MUTANTS} <= names
