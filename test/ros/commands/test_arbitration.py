# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which source gets control of a robot, and which one loses it."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.arbitration import GRIPPER
from urlab_ros_bridge.ros.commands.arbitration import JOINT_COMMANDS
from urlab_ros_bridge.ros.commands.arbitration import TRAJECTORY
from urlab_ros_bridge.ros.commands.velocity import CMD_VEL
from urlab_ros_bridge.ros.program.features import Settings

SECOND = 10**9
SOURCES = (TRAJECTORY, GRIPPER, JOINT_COMMANDS, CMD_VEL)


def arbiter(**settings):
    return Arbiter(Settings(**settings))


@pytest.mark.parametrize(('first', 'second'), list(itertools.permutations(SOURCES, 2)))
def test_only_a_higher_source_takes_over_at_once(first, second):
    control, lost = arbiter(), []
    control.claim(first, [1, 2], 0, lost.append)
    if second.priority > first.priority:
        control.claim(second, [2, 3], 1)
        assert lost == [second.name] and control.takeovers == 1
        assert control.report(1) == {first.name: 1, second.name: 2}
    else:
        with pytest.raises(CommandRejected, match=first.name):
            control.claim(second, [2, 3], 1)
        assert control.report(1) == {first.name: 2} and not lost


@pytest.mark.parametrize(('first', 'second'), list(itertools.permutations(SOURCES, 2)))
def test_the_last_one_wins_where_that_is_the_rule(first, second):
    control, lost = arbiter(arbitration='last'), []
    control.claim(first, [1], 0, lost.append)
    control.claim(second, [1], 1)
    assert lost == [second.name] and control.report(1) == {second.name: 1}


def test_an_e_stop_ends_all_claims_and_refuses_new_ones():
    control, lost = arbiter(), []
    control.claim(TRAJECTORY, [1, 2], 0, lost.append)
    control.stop('e-stop')
    assert lost == ['e-stop'] and control.report(0) == {}
    for source in SOURCES:
        with pytest.raises(CommandRejected, match='e-stop'):
            control.claim(source, [1], 10**9)
    control.resume()
    control.claim(CMD_VEL, [1], 10**9)


CLAIMS = st.lists(
    st.tuples(st.sampled_from(SOURCES), st.sets(st.integers(0, 3), min_size=1), st.integers(0, 9)),
    max_size=30,
)


@given(CLAIMS)
def test_a_part_has_one_holder_that_no_higher_source_claims(claims):
    control, now, holder = arbiter(joint_command_lock=2.0, cmd_vel_timeout=1.0), 0, {}
    locks = {JOINT_COMMANDS: 2 * SECOND, CMD_VEL: SECOND}
    for source, parts, wait in claims:
        now += wait * SECOND // 3
        free = all(
            part not in holder
            or now >= holder[part][1]
            or holder[part][0] in (source,)
            or holder[part][0].priority < source.priority
            for part in parts
        )
        try:
            control.claim(source, parts, now)
            assert free
            until = now + locks.get(source, 10**18)
            holder.update(dict.fromkeys(parts, (source, until)))
        except CommandRejected:
            assert not free
        expected = {}
        for source, until in holder.values():
            if now < until:
                expected[source.name] = expected.get(source.name, 0) + 1
        assert control.report(now) == expected
