# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A simulation that becomes unstable is an ERROR in /diagnostics and one line of the log."""

import itertools

from bridge_harness import CapturedLog
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from stamps import ns_of
from unstable_world import write_unstable_world
from urlab_msgs import srv

ERROR, OK = DiagnosticStatus.ERROR, DiagnosticStatus.OK


@pytest.fixture
def unstable(bundled, tmp_path):
    """Return a bridge to the unstable world, and a listener."""
    _, bridge, listener = bundled({'model': write_unstable_world(tmp_path)})
    wait_until(lambda: bridge.settled)
    return bridge, listener


def simulation_of(message):
    """Return the status of the simulation in a message of /diagnostics."""
    return next((s for s in message.status if s.name.endswith(': simulation')), None)


def wait_for_level(listener, level):
    listener.received.pop('/diagnostics', None)
    message = listener.wait_for(
        DiagnosticArray,
        '/diagnostics',
        lambda message: (found := simulation_of(message)) and found.level == level,
    )
    return simulation_of(message)


def test_a_divergence_is_an_error_until_the_next_reset_and_is_logged_once(unstable, capfd):
    _, listener = unstable
    log = CapturedLog(capfd)
    assert wait_for_level(listener, OK).message == 'stable'
    clock = listener.listen(Clock, '/clock', LISTEN_BEST_EFFORT)
    wait_until(lambda: len(clock) > 3)
    command = JointState(name=['hinge'], position=[0.5])
    listener.publisher(JointState, 'joint_commands').publish(command)
    found = wait_for_level(listener, ERROR)
    assert 'unstable' in found.message and 'stiff_hinge' in found.message
    values = {pair.key: pair.value for pair in found.values}
    assert values['divergence quantity'] == 'qacc' and values['divergence world_reset'] == 'yes'
    # Time was set back as by a reset, and continues.
    times = list(map(ns_of, list(clock)))
    assert any(new < old for old, new in itertools.pairwise(times))
    count = len(clock)
    wait_until(lambda: len(clock) > count + 20)
    assert len(set(map(ns_of, list(clock)[count:]))) > 10
    assert len(log.with_words('became unstable')) == 1
    assert listener.call(srv.Reset, '/reset').success
    assert wait_for_level(listener, OK).message == 'stable'
    assert len(log.with_words('became unstable')) == 1


def test_a_lockstep_that_diverges_in_every_round_ends_with_the_reason(unstable):
    """Each round would have the same instant, which no node answers again."""
    bridge, listener = unstable
    commands = listener.node.create_publisher(JointState, 'joint_commands', 10)

    def answer(message):
        commands.publish(JointState(header=message.header, name=['hinge'], position=[0.5]))

    listener.listen(JointState, 'joint_states')
    listener.run(lambda: listener.node.create_subscription(JointState, 'joint_states', answer, 10))
    request = {'enabled': True, 'topics': ['joint_commands'], 'period': 0.02}
    assert listener.call(srv.SetLockstep, '/lockstep', **request).success
    wait_until(lambda: not bridge.lockstep.on)
    assert 'stiff_hinge' in bridge.lockstep.ended
    assert 'stiff_hinge' in wait_for_level(listener, ERROR).message
    wait_until(lambda: bridge.link.state.mode == 'live')
