# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from geometry_msgs.msg import TwistStamped
from hypothesis import given
from hypothesis import strategies as st
import pytest
from stamps import time_of
from std_msgs.msg import Header

from urlab_ros_bridge.ros.commands.gate import AnswerGate

NOW = 3_000_000_000


def stamped(stamp_ns):
    return TwistStamped(header=Header(stamp=time_of(stamp_ns)))


def at(gate, stamp_ns):
    """Bring a gate to an instant that was published."""
    gate.set_stamp(gate.begin_instant(), stamp_ns)
    gate.published(stamp_ns)


@pytest.fixture
def gate():
    gate = AnswerGate()
    gate.arm(['/a', '/b'])
    at(gate, NOW)
    return gate


def say(gate, topic, stamp_ns, done=None):
    return gate.record_answer(topic, stamp_ns, stamped(stamp_ns) if stamp_ns else None, done)


@given(st.permutations(['/a', '/b', '/c']))
def test_awaited_commands_are_held_until_the_instant_ends_whatever_their_order(arrival):
    gate, got = AnswerGate(), []
    gate.arm(sorted(arrival))
    at(gate, NOW)
    for topic in arrival:
        assert not gate.wait(0)
        assert gate.hold(topic, topic, lambda text, stale='': got.append(text))
    assert gate.wait(0) and got == []
    for receive, message in gate.end_instant():
        receive(message)
    assert got == sorted(arrival) and gate.end_instant() == []
    gate.hold('/a', 'too much', lambda text, stale='': got.append(text))
    gate.disarm()
    assert got[-1] == 'too much' and len(got) == 4


@given(st.integers(1, 2 * NOW))
def test_an_answer_counts_if_its_stamp_is_not_before_the_instant(stamp_ns):
    gate = AnswerGate()
    gate.arm(['/a'])
    at(gate, NOW)
    say(gate, '/a', stamp_ns)
    assert gate.wait(0) == (stamp_ns >= NOW)
    assert gate.late == ({} if stamp_ns >= NOW else {'/a': (1, stamp_ns)})


def test_an_answer_may_arrive_before_the_reply_with_its_time(gate):
    instant = gate.begin_instant()
    say(gate, '/a', NOW + 5)
    say(gate, '/b', 0)
    gate.published(NOW + 5)
    assert not gate.wait(0)
    gate.set_stamp(instant, NOW + 5)
    assert gate.wait(0)


def test_after_a_reset_only_answers_to_the_new_time_count(gate):
    say(gate, '/a', 0, print)
    instant = gate.begin_instant()
    gate.reset()
    gate.set_stamp(instant, NOW + 5)  # the reply of a step before the reset
    assert gate.begin_instant() is None and gate.end_instant() == []
    gate.reset()
    gate.published(1000)
    assert gate.stamp_ns == 1000 and gate.is_published
    say(gate, '/a', NOW)
    say(gate, '/b', 1001)
    assert gate.unanswered() == ['/a', '/b']
    say(gate, '/a', 1000)
    say(gate, '/b', 0)
    assert gate.wait(0)


def test_after_steps_of_another_client_the_newest_instant_is_awaited(gate):
    say(gate, '/a', NOW)
    gate.published(NOW + 5)
    say(gate, '/b', NOW + 5)
    assert gate.unanswered() == ['/a']
