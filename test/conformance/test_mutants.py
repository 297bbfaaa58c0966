# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A check fails on a server that breaks its rule, and no check fails on a sound one."""

import faults
from proxy import Fault
from proxy import Proxy
from proxy import SpoiledChannel
import pytest

from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Peer
from urlab_ros_bridge.conformance import Places
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance import select
from urlab_ros_bridge.conformance.runner import FAIL

# Checks that need sockets, a renderer or running time.
STREAMED = (
    'rows', 'camera', 'control', 'info', 'server', 'shm', 'recording.live', 'step.live',
    'set_paused.stops_time',
)  # fmt: skip


def plan_of(*names):
    return Plan(tuple(select(all_checks(), list(names))), transports=('zmq',), quick=True)


def failures(peer, plan):
    return {result.check.name for result in run(peer, plan) if result.outcome == FAIL}


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


def test_a_correct_dispatcher_has_no_faults(spoiled):
    requests = (c for c in all_checks() if not any(c.matches(pattern) for pattern in STREAMED))
    plan = Plan(tuple(requests), transports=('zmq',), quick=True)
    assert failures(spoiled(Fault()), plan) == set()


@pytest.mark.parametrize(('check', 'fault'), faults.OF_REQUESTS)
def test_a_fault_of_requests_is_found(spoiled, check, fault):
    assert failures(spoiled(fault()), plan_of(check)) == {check}


@pytest.mark.parametrize(('check', 'fault'), faults.OF_IMAGES)
def test_a_fault_of_images_is_found(sound, connect, check, fault):
    with Proxy(sound, fault()) as proxy:
        assert failures(connect(proxy.places), plan_of(check)) == {check}


@pytest.mark.parametrize(('check', 'fault'), faults.OF_ROWS)
def test_a_fault_of_rows_is_found(sound, connect, check, fault):
    with Proxy(sound, Fault(row=fault())) as proxy:
        assert failures(connect(proxy.places), plan_of(check)) == {check}
